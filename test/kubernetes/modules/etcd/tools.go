//go:build tools

// Package tools locks the etcd server that the tests run; see ../../prepare.ts.
package tools

import _ "go.etcd.io/etcd/server/v3"
