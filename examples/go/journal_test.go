package journal

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// Under `kurabe price` its flushes are counted.
func TestEntriesAreKept(t *testing.T) {
	journal, err := Open("entries")
	if err != nil {
		t.Fatal(err)
	}
	for number := 0; number < 50; number++ {
		if err := journal.Append(fmt.Sprintf("entry %d", number)); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile("entries")
	if err != nil || strings.Count(string(kept), "\n") != 50 {
		t.Fatal(err, string(kept))
	}
}
