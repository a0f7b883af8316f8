package trace

import (
	"context"
	"io"
	"math"
)

// each calls use for every row of the trace, until the context ends.
func (r *Reader) each(ctx context.Context, use func(*Row) error) error {
	var row Row
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		err := r.Next(&row)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = use(&row)
		}
		if err != nil {
			return err
		}
	}
}

// Convert writes all rows in a format of this project, chosen by the name, in
// the order of the file and with the recorded times.
func (r *Reader) Convert(ctx context.Context, out io.Writer, name string) error {
	w, err := NewWriter(out, name, &r.header)
	if err != nil {
		return err
	}
	earliest, latest := int64(math.MaxInt64), int64(0)
	err = r.each(ctx, func(row *Row) error {
		earliest, latest = min(earliest, row.At), max(latest, row.At)
		return w.Write(row)
	})
	if err != nil {
		return err
	}
	if span := float64(latest-earliest) / 1e6; !r.opt.Force {
		if err := Plausible(&r.header, float64(r.header.RowsKept-1)/max(span, 1), span); err != nil {
			return err
		}
	}
	return w.Close()
}

// Stats reads the trace to its end.
func (r *Reader) Stats(ctx context.Context) (*Stats, error) {
	rule, err := ParseKey(r.opt.Key)
	if err != nil {
		return nil, err
	}
	s := newStats(rule)
	err = r.each(ctx, func(row *Row) error {
		s.add(&r.header, row)
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.finish(&r.header)
	if r.opt.Force {
		return s, nil
	}
	return s, Plausible(&r.header, s.qps(), s.span())
}
