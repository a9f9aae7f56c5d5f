package docs

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// A patch that brings back a fault is worth nothing once the code has moved away from it.
func TestThePatchesOfTheSimulationApply(t *testing.T) {
	patches, err := filepath.Glob("simulation/mutants/*.patch")
	if err != nil || len(patches) < 15 {
		t.Fatalf("%d patches, %v", len(patches), err)
	}
	for _, patch := range patches {
		check := exec.CommandContext(t.Context(), "git", "apply", "--check", filepath.Join("docs", patch))
		check.Dir = ".."
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", patch, err, out)
		}
	}
}
