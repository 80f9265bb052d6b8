//go:build tools

// Package tools locks Helm, which the chart's test runs; see ../../obtain.ts.
package tools

import _ "helm.sh/helm/v4/cmd/helm"
