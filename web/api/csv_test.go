package api

import "testing"

func TestCellsThatASpreadsheetWouldRun(t *testing.T) {
	for cell, want := range map[string]string{
		"": "", "news": "news", "-100123": "-100123", "+5": "+5", "=1+1": "'=1+1", "+1+1": "'+1+1", "-1+1": "'-1+1", "@SUM(A1)": "'@SUM(A1)",
		"\t=1": "'\t=1", "-": "'-", "a=b": "a=b",
	} {
		if got := safeCell(cell); got != want {
			t.Errorf("%q: %q, want %q", cell, got, want)
		}
	}
}
