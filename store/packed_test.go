package store

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// draw sets all that a row holds to something random.
func draw(rt *rapid.T, v reflect.Value) {
	switch v.Interface().(type) {
	case time.Time:
		if rapid.Bool().Draw(rt, "set") {
			years := rapid.Int64Range(-62135596800, 253402300799).Draw(rt, "seconds")
			v.Set(reflect.ValueOf(time.Unix(years, rapid.Int64Range(0, 999_999_999).Draw(rt, "nanos")).UTC()))
		}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			draw(rt, v.Field(i))
		}
	case reflect.Slice:
		if n := rapid.IntRange(0, 3).Draw(rt, "length"); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				draw(rt, v.Index(i))
			}
		}
	case reflect.String:
		v.SetString(rapid.String().Draw(rt, "text"))
	case reflect.Float32:
		v.SetFloat(float64(rapid.Float32().Draw(rt, "fraction")))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(rt, "flag"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(rt, "number"))
	case reflect.Uint64:
		v.SetUint(rapid.Uint64().Draw(rt, "number"))
	default:
		rt.Fatalf("a %s cannot be drawn", v.Type())
	}
}

// A field that a row has and its packing has not is lost: so each is drawn.
func testPacking[T any](t *testing.T, setID func(row *T, id uint64)) {
	rapid.Check(t, func(rt *rapid.T) {
		var row, back T
		draw(rt, reflect.ValueOf(&row).Elem())
		data, err := encodeRow(7, &row)
		if err != nil {
			rt.Fatal(err)
		}
		if err := decodeRow(7, data, &back); err != nil {
			rt.Fatal(err)
		}
		setID(&row, 0) // it is the key of the row, not a part of it
		if !reflect.DeepEqual(row, back) {
			rt.Fatalf("packed %+v, unpacked %+v", row, back)
		}
		body := data[crcSize:]
		for n := range body { // whatever is read, it never panics
			var part T
			if err := unpackRow(append([]byte{packedV1}, body[n:]...), any(&part).(packed)); n == 1 && err != nil {
				rt.Fatal(err)
			}
		}
	})
}

func TestWhatARowHoldsIsPacked(t *testing.T) {
	t.Run("job", func(t *testing.T) { testPacking(t, func(j *Job, id uint64) { j.ID = id }) })
	t.Run("run", func(t *testing.T) { testPacking(t, func(r *Run, id uint64) { r.ID = id }) })
}

func TestARowFromBeforeAFieldWasAddedIsRead(t *testing.T) {
	want := Job{Name: "post_1", Kind: "post", Lane: "l", State: JobWaiting}
	body := packRow(nil, &want)
	if body[len(body)-1] == 0 {
		t.Errorf("zeros were written at the end: %v", body)
	}
	var broken Job
	for zeros := range 20 { // as versions that left nothing out wrote them, with or without what was added later
		var old Job
		if err := unpackRow(append(body[:len(body):len(body)], make([]byte, zeros)...), &old); err != nil || !reflect.DeepEqual(old, want) {
			t.Errorf("%+v, %v", old, err)
		}
	}
	if err := unpackRow(body[:4], &broken); err == nil {
		t.Error("a row that ends within a field was read")
	}
	if err := unpackRow([]byte{packedV1 + 1}, &broken); err == nil {
		t.Error("a row of a later version was read")
	}
}
