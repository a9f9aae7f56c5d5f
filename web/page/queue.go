package page

import (
	"fmt"
	"strconv"
	"strings"

	"belfry/store"
)

// slotField is the name of a field of a row of a queue.
func slotField(name string, row int) string { return fmt.Sprintf("slot_%s-%d", name, row) }

// setSlots writes the times of a queue into the form, a row each.
func (f form) setSlots(slots []store.Slot) {
	for row := 0; f.values.Has(slotField("times", row)); row++ {
		f.values.Del(slotField("times", row))
		f.values.Del(slotField("days", row))
		f.values.Del(slotField("zone", row))
	}
	for row, s := range slots {
		f.values.Set(slotField("times", row), strings.Join(s.Times, ", "))
		f.values.Set(slotField("zone", row), s.Zone)
		for _, day := range s.Days {
			f.values.Add(slotField("days", row), strconv.Itoa(day))
		}
	}
}

// slots reads the times of a queue. Rows without times are left out.
func (f form) slots() []store.Slot {
	slots := []store.Slot{}
	for row := 0; f.values.Has(slotField("times", row)); row++ {
		s := store.Slot{Times: timesOfDay(f.get(slotField("times", row))), Zone: f.get(slotField("zone", row))}
		for _, text := range f.values[slotField("days", row)] {
			day, _ := strconv.Atoi(text) // what is no number is refused as no day
			s.Days = append(s.Days, day)
		}
		if len(s.Times) > 0 {
			slots = append(slots, s)
		}
	}
	return slots
}

// slotRows is how many rows the form shows: one more than are filled in.
func (f form) slotRows() int { return len(f.slots()) + 1 }

// slotFields are the fields that [form.refuse] knows of a queue.
func (f form) slotFields() (fields []string) {
	for row := range f.slots() {
		fields = append(fields, fmt.Sprintf("slots[%d]:%s", row, slotField("times", row)),
			fmt.Sprintf("slots[%d].zone:%s", row, slotField("zone", row)))
	}
	return fields
}

// timesOfDay takes a list of times apart that a person has typed.
func timesOfDay(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(", ;", c) })
}
