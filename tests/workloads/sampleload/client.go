// SPDX-License-Identifier: MIT

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
)

// A client that costs little, since it shares the machine with what is measured: it keeps one
// connection, sends ready-made bytes, and reads replies that say their length.
type client struct {
	host     string
	conn     net.Conn
	in       *bufio.Reader
	sent     int64
	received int64
}

type reply struct {
	status int
	cookie string
	body   []byte // valid until the next request
}

func newClient(host string) *client { return &client{host: host} }

func get(host, path, cookie string) []byte {
	if cookie != "" {
		cookie = "Cookie: " + cookie + "\r\n"
	}
	return []byte("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n" + cookie + "\r\n")
}

func post(host, path string, body []byte) []byte {
	head := "POST " + path + " HTTP/1.1\r\nHost: " + host + "\r\nContent-Type: application/json\r\nContent-Length: " +
		strconv.Itoa(len(body)) + "\r\n\r\n"
	return append([]byte(head), body...)
}

func (c *client) close() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}

func (c *client) send(request []byte) error {
	if c.conn == nil {
		conn, err := net.Dial("tcp", c.host)
		if err != nil {
			return err
		}
		c.conn, c.in = conn, bufio.NewReader(conn)
	}
	n, err := c.conn.Write(request)
	c.sent += int64(n)
	return err
}

// head reads the status line and the headers. The length is -1 if the reply has none.
func (c *client) head() (r reply, length int, err error) {
	length = -1
	for first := true; ; first = false {
		line, err := c.in.ReadString('\n')
		c.received += int64(len(line))
		if err != nil {
			return r, length, err
		}
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			return r, length, nil
		}
		if first {
			fields := strings.SplitN(line, " ", 3)
			if len(fields) < 2 {
				return r, length, errors.New("not a reply: " + line)
			}
			r.status, err = strconv.Atoi(fields[1])
			if err != nil {
				return r, length, err
			}
			continue
		}
		colon := strings.IndexByte(line, ':')
		if colon < 0 {
			continue
		}
		value := strings.TrimSpace(line[colon+1:])
		switch strings.ToLower(line[:colon]) {
		case "content-length":
			if length, err = strconv.Atoi(value); err != nil || length < 0 {
				return r, -1, errors.New("bad Content-Length: " + value)
			}
		case "set-cookie":
			r.cookie = value
		}
	}
}

// do makes one request. After an error the connection is closed, and the next one begins anew.
func (c *client) do(request []byte) (reply, error) {
	r, err := c.try(request)
	if err != nil {
		c.close()
	}
	return r, err
}

func (c *client) try(request []byte) (reply, error) {
	if err := c.send(request); err != nil {
		return reply{}, err
	}
	r, length, err := c.head()
	if err != nil {
		return r, err
	}
	if length < 0 {
		return r, errors.New("a reply without Content-Length")
	}
	r.body = make([]byte, length)
	n, err := io.ReadFull(c.in, r.body)
	c.received += int64(n)
	return r, err
}

// openStream opens an event stream and reads it, so that the target can always write.
func (c *client) openStream(cookie string) error {
	if err := c.send(get(c.host, "/_sky/sse", cookie)); err != nil {
		return err
	}
	r, _, err := c.head()
	if err != nil || r.status != 200 {
		return fmt.Errorf("no event stream: status %d, %v", r.status, err)
	}
	go io.Copy(io.Discard, c.in)
	return nil
}
