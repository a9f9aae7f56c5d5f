package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"os"
	"slices"

	"go.etcd.io/bbolt"
)

// The pages of a file are read here as bytes, whatever they hold: bbolt takes each of them for good, and
// one that is not ends the process, or leads it in circles.

const (
	// pageHeader is the number of bytes before what a page of bbolt holds: its number, what it is, how
	// many elements it has, and how many pages follow that belong to it.
	pageHeader = 16
	// elementSize is that of the elements, which follow the header and say where keys and values are.
	elementSize = 16
	// metaSize is the number of bytes of a meta page that its checksum covers.
	metaSize = 56

	branchPage, leafPage, freePage = 1, 2, 16
	// bucketFlag marks the elements of a leaf that are buckets. Their value begins with the page that is
	// their root, 0 if it follows in the value, and their sequence.
	bucketFlag   = 1
	bucketHeader = 16
	noFreelist   = math.MaxUint64
)

// meta is what matters here of a meta page.
type meta struct {
	valid    bool
	pageSize int64
	root     uint64
	freelist uint64
	pages    uint64 // how many the file has
	txid     uint64
}

func readMeta(f io.ReaderAt, at int64) (meta, error) {
	var page [metaSize + 8]byte
	if _, err := f.ReadAt(page[:], at+pageHeader); err != nil {
		return meta{}, err
	}
	sum := fnv.New64a()
	if _, err := sum.Write(page[:metaSize]); err != nil {
		return meta{}, err
	}
	return meta{
		valid:    sum.Sum64() == binary.NativeEndian.Uint64(page[metaSize:]),
		pageSize: int64(binary.NativeEndian.Uint32(page[8:])),
		root:     binary.NativeEndian.Uint64(page[16:]),
		freelist: binary.NativeEndian.Uint64(page[32:]),
		pages:    binary.NativeEndian.Uint64(page[40:]),
		txid:     binary.NativeEndian.Uint64(page[48:]),
	}, nil
}

// metas returns the meta pages that are valid, the newest first.
func metas(f io.ReaderAt) (all []meta, err error) {
	take := func(at int64) meta {
		m, e := readMeta(f, at)
		if e != nil && !errors.Is(e, io.EOF) && !errors.Is(e, io.ErrUnexpectedEOF) {
			err = e
		}
		if m.valid = m.valid && m.pageSize >= 512; m.valid {
			all = append(all, m)
		}
		return m
	}
	if first := take(0); first.valid {
		take(first.pageSize)
	} else {
		for at := int64(512); at <= 64<<10 && len(all) == 0; at *= 2 {
			take(at)
		}
	}
	slices.SortFunc(all, func(a, b meta) int { return cmp.Compare(b.txid, a.txid) })
	return all, err
}

func kindOf(page []byte) uint16 { return binary.NativeEndian.Uint16(page[8:]) }

// walk goes over the pages that belong to one commit and reports what is wrong with them.
type walk struct {
	file   io.ReaderAt
	size   int64 // of the file
	meta   meta
	seen   []bool
	report func(Problem)
}

func newWalk(f *os.File, m meta, report func(Problem)) (*walk, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	w := &walk{file: f, size: info.Size(), meta: m, report: report}
	if needed := float64(m.pages) * float64(m.pageSize); needed > float64(w.size) {
		report(Problem{Table: pagesTable, Problem: fmt.Sprintf("the file is cut short: it has %d bytes and needs %.0f", w.size, needed)})
		w.meta.pages = uint64(w.size / m.pageSize)
	}
	w.seen = make([]bool, w.meta.pages)
	return w, nil
}

func (w *walk) bad(id uint64, format string, args ...any) {
	w.report(Problem{Table: pagesTable, Problem: fmt.Sprintf("page %d %s", id, fmt.Sprintf(format, args...))})
}

// read returns a page with those that belong to it, nil if it is not what it must be.
func (w *walk) read(id uint64, kinds uint16) []byte {
	var header [pageHeader]byte
	if id < 2 || id >= w.meta.pages {
		w.bad(id, "is named, but not in the file")
		return nil
	}
	if _, err := w.file.ReadAt(header[:], int64(id)*w.meta.pageSize); err != nil {
		w.bad(id, "cannot be read: %v", err)
		return nil
	}
	kind, more := kindOf(header[:]), uint64(binary.NativeEndian.Uint32(header[12:]))
	switch {
	case binary.NativeEndian.Uint64(header[:]) != id:
		w.bad(id, "says that it is page %d", binary.NativeEndian.Uint64(header[:]))
		return nil
	case kind&kinds == 0 || kind&(kind-1) != 0:
		w.bad(id, "is of no known kind (%#x)", kind)
		return nil
	case id+more >= w.meta.pages:
		w.bad(id, "is %d pages long, more than the file has", more+1)
		return nil
	}
	for n := id; n <= id+more; n++ {
		if w.seen[n] {
			w.bad(n, "belongs to more than one place")
			return nil
		}
	}
	for n := id; n <= id+more; n++ {
		w.seen[n] = true
	}
	page := make([]byte, int64(more+1)*w.meta.pageSize)
	if _, err := w.file.ReadAt(page, int64(id)*w.meta.pageSize); err != nil {
		w.bad(id, "cannot be read: %v", err)
		return nil
	}
	return page
}

// entry is an element of a leaf.
type entry struct {
	page       uint64 // where it is
	bucket     bool
	key, value []byte
}

// visitor is called for each entry of a bucket that can be read, in order. For one that is a bucket it
// returns what is to be called for the entries in there.
type visitor func(entry) (inside visitor, err error)

// tree goes over a bucket, beginning at its root page. least and most bound the keys; nil is no bound.
func (w *walk) tree(root uint64, least, most []byte, visit visitor) error {
	page := w.read(root, branchPage|leafPage)
	if page == nil {
		return nil
	}
	return w.elements(root, page, least, most, visit)
}

// elements is [walk.tree] for a page that was read already, or is a part of another.
func (w *walk) elements(id uint64, page []byte, least, most []byte, visit visitor) error {
	count, leaf := int(binary.NativeEndian.Uint16(page[10:])), kindOf(page) == leafPage
	if pageHeader+count*elementSize > len(page) {
		w.bad(id, "has %d elements, more than it can hold", count)
		return nil
	}
	var all []entry
	var children []uint64
	for i := range count {
		at := pageHeader + i*elementSize
		word := func(n int) uint64 { return uint64(binary.NativeEndian.Uint32(page[at+4*n:])) }
		flags, pos, keySize, valueSize := word(0), word(1), word(2), word(3)
		if !leaf {
			flags, pos, keySize, valueSize = 0, word(0), word(1), 0
		}
		from, end := uint64(at)+pos, uint64(at)+pos+keySize+valueSize
		if pos < elementSize || keySize == 0 || keySize > bbolt.MaxKeySize || end > uint64(len(page)) {
			w.bad(id, "has an element %d that lies outside of it", i)
			continue
		}
		e := entry{page: id, bucket: flags&bucketFlag != 0, key: page[from : from+keySize], value: page[from+keySize : end]}
		if n := len(all); n > 0 && bytes.Compare(e.key, all[n-1].key) <= 0 ||
			least != nil && bytes.Compare(e.key, least) < 0 || most != nil && bytes.Compare(e.key, most) >= 0 {
			w.bad(id, "has the key %s where it does not belong", shown(e.key))
			continue
		}
		all, children = append(all, e), append(children, binary.NativeEndian.Uint64(page[at+8:]))
	}
	for i, e := range all {
		var err error
		if leaf {
			err = w.entry(e, visit)
		} else if i+1 < len(all) {
			err = w.tree(children[i], e.key, all[i+1].key, visit)
		} else {
			err = w.tree(children[i], e.key, most, visit)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// entry visits an entry and, if it is a bucket, what is in it.
func (w *walk) entry(e entry, visit visitor) error {
	if e.bucket && len(e.value) < bucketHeader {
		w.bad(e.page, "has the damaged bucket %s", shown(e.key))
		return nil
	}
	inside, err := visit(e)
	if err != nil || !e.bucket {
		return err
	}
	if root := binary.NativeEndian.Uint64(e.value); root != 0 {
		return w.tree(root, nil, nil, inside)
	}
	page := e.value[bucketHeader:]
	if len(page) < pageHeader || kindOf(page) != leafPage {
		w.bad(e.page, "has the damaged bucket %s", shown(e.key))
		return nil
	}
	return w.elements(e.page, page, nil, nil, inside)
}

// all goes over everything and proves that no page which is said to be free is in use.
func (w *walk) all() error {
	var everything visitor
	everything = func(entry) (visitor, error) { return everything, nil }
	if err := w.tree(w.meta.root, nil, nil, everything); err != nil || w.meta.freelist == noFreelist {
		return err
	}
	page := w.read(w.meta.freelist, freePage)
	if page == nil {
		return nil
	}
	count, ids := uint64(binary.NativeEndian.Uint16(page[10:])), page[pageHeader:]
	if count == math.MaxUint16 {
		count, ids = binary.NativeEndian.Uint64(ids), ids[8:]
	}
	if count > uint64(len(ids)/8) {
		w.bad(w.meta.freelist, "has %d elements, more than it can hold", count)
		return nil
	}
	for i := range count {
		switch id := binary.NativeEndian.Uint64(ids[8*i:]); {
		case id < 2 || id >= w.meta.pages:
			w.bad(id, "is said to be free, but not in the file")
		case w.seen[id]:
			w.bad(id, "is said to be free, but in use, or free already")
		default:
			w.seen[id] = true
		}
	}
	return nil
}

// checkPages returns what is wrong with the pages of a file that nobody writes.
func checkPages(f *os.File) (problems []Problem, err error) {
	report := func(p Problem) { problems = append(problems, p) }
	all, err := metas(f)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		report(Problem{Table: pagesTable, Problem: "page 0 and page 1 are both damaged, or this is not a Belfry file"})
		return problems, nil
	}
	w, err := newWalk(f, all[0], report)
	if err != nil {
		return nil, err
	}
	err = w.all()
	return problems, err
}
