// SPDX-License-Identifier: MIT

// Sampleapp is a program to observe: a Go HTTP server of the shape that the observer is made for.
// It serves event streams (one open stream is one session), events that render a view and write
// the session durably, and a small JSON API. What an event costs can be chosen by the client, so
// that the truth about it is known by construction.
//
//	GET  /                   a page; sets the session cookie
//	GET  /_sky/sse           the session's event stream, held open
//	POST /_sky/event         one interaction; see eventRequest
//	GET  /metadata/KEY       one entry of a table in memory
//	GET  /metadata?limit=50  the first entries of it
//	GET  /healthz            the smallest request
//
// On SIGTERM or SIGINT it prints what it did as one line of JSON, removes its files and ends.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

// counter can be counted and printed from any goroutine.
type counter struct{ n int64 }

func (c *counter) add(n int) { atomic.AddInt64(&c.n, int64(n)) }
func (c *counter) MarshalJSON() ([]byte, error) {
	return strconv.AppendInt(nil, atomic.LoadInt64(&c.n), 10), nil
}

// did is what the program did, counted where it did it.
var did struct {
	Events      counter `json:"events"`
	Elements    counter `json:"elements"`
	Patches     counter `json:"patches"`
	Fsyncs      counter `json:"fsyncs"`
	Getppids    counter `json:"getppids"`
	Pages       counter `json:"pages"`
	Streams     counter `json:"streams"`
	StreamsOpen counter `json:"streams_open"`
	Metadata    counter `json:"metadata"`
	Healthz     counter `json:"healthz"`
}

var (
	listen     = flag.String("listen", "127.0.0.1:0", "address to listen on; port 0 takes a free one")
	portFile   = flag.String("port-file", "", "file to write HOST:PORT to when listening")
	dataDir    = flag.String("data", "", "folder for the sessions (default: a temporary one)")
	storeKind  = flag.String("store", "file", "where sessions are kept: file or memory")
	debug      = flag.Bool("pprof", false, "serve /debug/pprof/, /debug/memstats and /debug/truth")
	background = flag.Int("background", 0, "goroutines that burn CPU beside the requests")
	ticker     = flag.Duration("ticker", 0, "render a small view so often, beside the requests (0: never)")
	accessLog  = flag.String("access-log", "", "file for one line per request")
)

// writePortFile makes the file appear with its whole content or not at all.
func writePortFile(path, address string) error {
	if err := os.WriteFile(path+".tmp", []byte(address+"\n"), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}

// startBackground begins work that belongs to no request and ends with the process.
func startBackground() {
	for i := 0; i < *background; i++ {
		go func() {
			for {
				burn(1000000)
			}
		}()
	}
	if *ticker > 0 {
		go func() {
			for range time.Tick(*ticker) {
				renderView(10, 0)
			}
		}()
	}
}

func addDebug(mux *http.ServeMux) {
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("/debug/memstats", func(w http.ResponseWriter, r *http.Request) {
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		writeJSON(w, &stats)
	})
	mux.HandleFunc("/debug/truth", func(w http.ResponseWriter, r *http.Request) { writeJSON(w, &did) })
}

func run() error {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	sessions, err := openStore(*storeKind == "file", *dataDir)
	if err != nil {
		return err
	}
	defer sessions.close()

	mux := http.NewServeMux()
	newApp(sessions).addRoutes(mux)
	if *debug {
		addDebug(mux)
	}
	handler := http.Handler(mux)
	if *accessLog != "" {
		file, err := os.OpenFile(*accessLog, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
		if err != nil {
			return err
		}
		defer file.Close()
		handler = logRequests(mux, file)
	}
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	address := listener.Addr().String()
	if *portFile != "" {
		if err := writePortFile(*portFile, address); err != nil {
			return err
		}
		defer os.Remove(*portFile)
	}
	fmt.Printf("listening on http://%s/ pid %d\n", address, os.Getpid())
	startBackground()

	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-stop:
		server.Close() // not Shutdown, which would wait for the open streams
	}
	return json.NewEncoder(os.Stdout).Encode(&did)
}

func main() {
	flag.Parse()
	if flag.NArg() > 0 || (*storeKind != "file" && *storeKind != "memory") {
		flag.Usage()
		os.Exit(64)
	}
	log.SetFlags(0)
	log.SetPrefix("sampleapp: ")
	if err := run(); err != nil {
		log.Fatal(err)
	}
}
