// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"unsafe"
)

// store keeps each session in a file of its own, or nowhere.
type store struct {
	fsyncs int // per event, where the event does not say it: 1 or 0
	dir    string
	ours   bool // the folder was made here and goes with us

	mu    sync.Mutex
	files map[string]bool // to be removed at the end
}

func openStore(durable bool, dir string) (*store, error) {
	s := &store{dir: dir, files: make(map[string]bool)}
	if durable {
		s.fsyncs = 1
	}
	var err error
	if dir == "" {
		s.dir, err = os.MkdirTemp("", "sampleapp-")
	} else {
		err = os.Mkdir(dir, 0o755)
	}
	s.ours = err == nil
	if os.IsExist(err) {
		err = nil
	}
	return s, err
}

func (s *store) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.files {
		os.Remove(name)
		os.Remove(name + ".tmp")
	}
	if s.ours {
		os.Remove(s.dir)
	}
}

// save writes the session beside its old file, makes it durable and puts it in place. The memory
// store does so only for events that ask for fsyncs.
func (s *store) save(id string, count, fsyncs int) error {
	if s.fsyncs == 0 && fsyncs == 0 {
		return nil
	}
	name := filepath.Join(s.dir, "session-"+id+".json")
	s.mu.Lock()
	s.files[name] = true
	s.mu.Unlock()
	file, err := os.Create(name + ".tmp")
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := fmt.Fprintf(file, "{\"session\":%q,\"count\":%d}\n", id, count); err != nil {
		return err
	}
	for i := 0; i < fsyncs; i++ {
		if err := file.Sync(); err != nil {
			return err
		}
		did.Fsyncs.add(1)
	}
	return os.Rename(name+".tmp", name)
}

var sink []byte // keeps what spend allocates from being optimised away
var sinkMu sync.Mutex

// spend makes the chosen cost of an event, beside the rendering.
func spend(ev *eventRequest) {
	for i := 0; i < ev.Calls; i++ {
		syscall.RawSyscall(syscall.SYS_GETPPID, 0, 0, 0)
	}
	did.Getppids.add(ev.Calls)
	for left := ev.Bytes; left > 0; left -= 1024 {
		piece := make([]byte, 1024)
		sinkMu.Lock()
		sink = piece
		sinkMu.Unlock()
	}
	if ev.SpinMicros > 0 {
		spin(ev.SpinMicros * 1000)
	}
}

// burn is work that makes no call and no garbage.
//
//go:noinline
func burn(rounds int) uint64 {
	x := uint64(1)
	for i := 0; i < rounds; i++ {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

// threadCPU is the CPU time of the calling thread in nanoseconds. No Go function reads this clock.
func threadCPU() int64 {
	const clockThreadCPUTime = 3
	var ts syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockThreadCPUTime, uintptr(unsafe.Pointer(&ts)), 0)
	return ts.Nano()
}

// spin burns CPU time on one thread, so that the clock of that thread is the truth.
func spin(ns int64) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for begin := threadCPU(); threadCPU()-begin < ns; {
		burn(10000)
	}
}
