package sweep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"cacheroute/results"
	"cacheroute/scenarios"
)

// damagedRequests are the files of requests that are not those of their cells,
// in the order of the plan: damaged, or of another cell.
func (p *Plan) damagedRequests(ids []id, have *found) (paths []string, err error) {
	if !p.Requests {
		return nil, nil
	}
	var cells []id
	seen := map[id]bool{} // variants may share cells
	for _, cell := range ids {
		if have.done(cell) && !seen[cell] {
			seen[cell] = true
			cells = append(cells, cell)
		}
	}
	damaged := make([]bool, len(cells))
	err = scenarios.Deal(context.Background(), 0, len(cells), func(_ context.Context, n int) error {
		stored, err := have.load(have.at[cells[n]])
		if err != nil {
			return err
		}
		err = results.CheckRequests(p.requestsPath(cells[n]), stored.Cell)
		var disk *fs.PathError
		if errors.As(err, &disk) { // says nothing of the file
			return err
		}
		damaged[n] = err != nil
		return nil
	})
	for n, cell := range cells {
		if damaged[n] {
			paths = append(paths, p.requestsPath(cell))
		}
	}
	return paths, err
}

// damageWords names files of requests and tells the cure.
func (p *Plan) damageWords(paths []string) string {
	if len(paths) == 1 {
		return fmt.Sprintf("%s: not the requests of its cell: delete it, then cacheroute sweep resume %s runs the cell again", paths[0], p.dir)
	}
	return fmt.Sprintf("%s: not the requests of their cells, %d files: delete them, then cacheroute sweep resume %s runs the cells again",
		excerpt(paths), len(paths), p.dir)
}

// excerpt names some of many.
func excerpt(names []string) string {
	const most = 10
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", ..."
	}
	return strings.Join(names, ", ")
}

// requestsOf are the files of the requests of the cells that have a result; nil
// if they are not kept.
func (p *Plan) requestsOf(ids []id, have *found) (paths []string) {
	if !p.Requests {
		return nil
	}
	for _, cell := range ids {
		if have.done(cell) {
			paths = append(paths, p.requestsPath(cell))
		}
	}
	return paths
}
