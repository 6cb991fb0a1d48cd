// SPDX-License-Identifier: MIT

// gofunctions calls functions that an observer may take for interactions: on goroutines that change their threads and
// move their stacks, recursively, past panics, in goroutines that end, and behind net/http. It must not know any
// observer.
//
// The protocol: it writes "ready PID" and waits for lines, a command and numbers each; does it, and writes one line of
// JSON: what it did. It ends with its input.
package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"sync"
	"syscall"
)

const (
	atOnce     = 8
	getppids   = 3
	stackDepth = 300 // of some 200 bytes: a stack grows several times
)

var sink int

//go:noinline
func dig(depth int) int {
	var room [24]int
	room[depth%len(room)] = depth
	if depth == 0 {
		return 0
	}
	return dig(depth-1) + room[depth%len(room)] - depth + 1
}

// handle is one interaction: 3 calls of getppid and some of fsync, on whatever thread it is just then.
//
//go:noinline
func handle(file *os.File, fsyncs int) int {
	for i := 0; i < getppids; i++ {
		syscall.Getppid()
		runtime.Gosched()
	}
	sum := dig(stackDepth)
	for i := 0; i < fsyncs; i++ {
		if err := file.Sync(); err != nil {
			panic(err)
		}
		turn := make(chan int)
		go func() { turn <- 1 }()
		sum += <-turn
	}
	if sum < 0 {
		return -sum
	}
	return sum
}

// again calls itself, with a call of getppid on each level, and handle on the last one.
//
//go:noinline
func again(file *os.File, levels int) int {
	syscall.Getppid()
	if levels == 0 {
		return handle(file, 1)
	}
	return again(file, levels-1) + 1
}

// fails returns if nothing is to happen.
//
//go:noinline
func fails(how string) int {
	syscall.Getppid()
	if how == "" {
		return 1
	}
	if how == "exit" {
		runtime.Goexit()
	}
	panic(how)
}

func small(n int) int { return 3*sink + n }

//go:noinline
func pick[T int | string](a, b T) T {
	if sink > 0 {
		return a
	}
	return b
}

func safely(how string) {
	defer func() { _ = recover() }()
	sink += fails(how)
}

// each calls f n times, by goroutines of which some are there at once.
func each(n int, f func()) {
	var all sync.WaitGroup
	turns := make(chan bool, atOnce)
	for i := 0; i < n; i++ {
		all.Add(1)
		turns <- true
		go func() {
			defer func() { <-turns; all.Done() }()
			f()
		}()
	}
	all.Wait()
}

func serve() int {
	file := temporary()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	http.HandleFunc("/fsync", func(w http.ResponseWriter, r *http.Request) {
		handle(file, 1)
		io.WriteString(w, "ok")
	})
	http.HandleFunc("/panic", func(w http.ResponseWriter, r *http.Request) {
		panic(http.ErrAbortHandler)
	})
	http.HandleFunc("/hijack", func(w http.ResponseWriter, r *http.Request) {
		connection, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			io.WriteString(connection, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
			connection.Close()
		}
	})
	go http.Serve(listener, nil)
	return listener.Addr().(*net.TCPAddr).Port
}

func temporary() *os.File {
	file, err := os.CreateTemp(".", "gofunctions")
	if err != nil {
		panic(err)
	}
	os.Remove(file.Name())
	return file
}

func do(command string, n, m int) map[string]int {
	file := temporary()
	defer file.Close()
	switch command {
	case "calls":
		each(n, func() { handle(file, m) })
		return map[string]int{"calls": n, "fsyncs": n * m, "getppids": n * getppids}
	case "again":
		each(n, func() { again(file, m) })
		return map[string]int{"calls": n, "fsyncs": n, "getppids": n * (m + 1 + getppids)}
	case "panics": // by one goroutine, which goes on
		each(1, func() {
			for i := 0; i < n; i++ {
				safely("panic")
			}
		})
	case "exits":
		each(n, func() { safely("exit") })
	case "serve":
		return map[string]int{"port": serve()}
	default:
		os.Exit(2)
	}
	return map[string]int{"calls": n}
}

// The main goroutine stays on the thread by which others see that it waits for a line.
func init() { runtime.LockOSThread() }

func main() {
	sink = small(len(os.Args)) - pick(0, 1) + len(pick("a", ""))
	fmt.Println("ready", os.Getpid())
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var command string
		var n, m int
		fmt.Sscan(lines.Text(), &command, &n, &m)
		text := ""
		for key, value := range do(command, n, m) {
			text += fmt.Sprintf(",%q:%d", key, value)
		}
		fmt.Printf("{%s}\n", text[1:])
	}
}
