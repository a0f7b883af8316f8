# The version is the tag of a release; the commit comes from the Go tool.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
STATICCHECK = go tool -modfile=tools/go.mod staticcheck

.PHONY: run test check bench build

# The paper's Table 1.
run: build
	bin/cacheroute run table-1

build:
	go build -buildvcs=auto -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o bin/cacheroute ./cmd/cacheroute

test:
	go test -timeout 20m ./...

# What a change must pass: format, vet, staticcheck, tests, and once more under
# the race detector where goroutines meet.
check: test
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "not gofmt: $$unformatted"; exit 1; fi
	go vet ./...
	$(STATICCHECK) ./...
	cd tools/kubernetes && go vet . && go test -count=1 .
	go test -race -short -timeout 20m ./scenarios ./scenarios/sweep ./scenarios/fit
	go test -race -short -timeout 20m -run 'TestScripts/(run|interrupt|sweep|capacity|fit|variants)$$|Bar|Status' ./cmd/...

bench:
	go test -run '^$$' -bench . -benchmem ./...
