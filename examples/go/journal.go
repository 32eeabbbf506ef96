// Package journal keeps entries: one is on the medium when Append returns.
package journal

import (
	"os"
	"syscall"
)

type Journal struct{ file *os.File }

func Open(path string) (*Journal, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	return &Journal{file}, err
}

func (j *Journal) Append(entry string) error {
	if _, err := j.file.WriteString(entry + "\n"); err != nil {
		return err
	}
	return syscall.Fdatasync(int(j.file.Fd()))
}
