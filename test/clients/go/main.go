// An application in Go: go-oidc and golang.org/x/oauth2 as they sign people in, refresh, and ask for them; or a command line
// without a browser (RFC 8628). What it says is a line of JSON each; where somebody has to go first, it waits for a line that says
// where they came out.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

func say(words map[string]any) {
	if err := json.NewEncoder(os.Stdout).Encode(words); err != nil {
		log.Fatal(err)
	}
}

func main() {
	log.SetFlags(0)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	how, issuer, clientID := os.Args[1], os.Args[2], os.Args[3]
	provider, err := oidc.NewProvider(ctx, issuer)
	if err != nil {
		log.Fatal(err)
	}
	config := &oauth2.Config{ClientID: clientID, Endpoint: provider.Endpoint(), Scopes: []string{oidc.ScopeOpenID, "email"}}
	if how == "device" {
		err = device(ctx, provider, config)
	} else {
		config.ClientSecret, config.RedirectURL = os.Args[4], os.Args[5]
		config.Scopes = append(config.Scopes, oidc.ScopeOfflineAccess)
		err = code(ctx, provider, config)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func identity(ctx context.Context, provider *oidc.Provider, config *oauth2.Config, token *oauth2.Token) (*oidc.IDToken, error) {
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return nil, errors.New("there is no ID token")
	}
	id, err := provider.Verifier(&oidc.Config{ClientID: config.ClientID}).Verify(ctx, raw)
	if err != nil {
		return nil, err
	}
	return id, id.VerifyAccessToken(token.AccessToken)
}

func userinfo(ctx context.Context, provider *oidc.Provider, token *oauth2.Token) (map[string]any, error) {
	info, err := provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return nil, err
	}
	claims := map[string]any{}
	return claims, info.Claims(&claims)
}

func code(ctx context.Context, provider *oidc.Provider, config *oauth2.Config) error {
	verifier, nonce, state := oauth2.GenerateVerifier(), oauth2.GenerateVerifier(), oauth2.GenerateVerifier()
	say(map[string]any{"open": config.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier), oidc.Nonce(nonce))})
	landed := bufio.NewScanner(os.Stdin)
	landed.Scan()
	at, err := url.Parse(landed.Text())
	if err != nil {
		return err
	}
	if at.Query().Get("state") != state {
		return fmt.Errorf("another state: %s", at)
	}
	token, err := config.Exchange(ctx, at.Query().Get("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		return err
	}
	id, err := identity(ctx, provider, config, token)
	if err != nil {
		return err
	}
	if id.Nonce != nonce {
		return errors.New("another nonce")
	}
	info, err := userinfo(ctx, provider, token)
	if err != nil {
		return err
	}
	// as one that has run out
	refreshed, err := config.TokenSource(ctx, &oauth2.Token{RefreshToken: token.RefreshToken}).Token()
	if err != nil {
		return err
	}
	again, err := identity(ctx, provider, config, refreshed)
	if err != nil {
		return err
	}
	exchanged, err := exchange(ctx, config, refreshed.AccessToken)
	if err != nil {
		return err
	}
	_, reused := config.TokenSource(ctx, &oauth2.Token{RefreshToken: token.RefreshToken}).Token()
	var refused *oauth2.RetrieveError
	errors.As(reused, &refused)
	say(map[string]any{
		"sub":       id.Subject,
		"same":      again.Subject == id.Subject,
		"userinfo":  info,
		"changed":   refreshed.RefreshToken != token.RefreshToken,
		"exchanged": exchanged,
		"reused":    refused.ErrorCode,
	})
	return nil
}

// RFC 8693, for which x/oauth2 has no words of its own.
func exchange(ctx context.Context, config *oauth2.Config, token string) (string, error) {
	form := url.Values{
		"grant_type":         {"urn:ietf:params:oauth:grant-type:token-exchange"},
		"subject_token":      {token},
		"subject_token_type": {"urn:ietf:params:oauth:token-type:access_token"},
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, config.Endpoint.TokenURL, strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.SetBasicAuth(url.QueryEscape(config.ClientID), url.QueryEscape(config.ClientSecret))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	var answer struct {
		IssuedTokenType string `json:"issued_token_type"`
		Error           string `json:"error_description"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return "", err
	}
	if answer.Error != "" {
		return "", errors.New(answer.Error)
	}
	return answer.IssuedTokenType, nil
}

func device(ctx context.Context, provider *oidc.Provider, config *oauth2.Config) error {
	asked, err := config.DeviceAuth(ctx)
	if err != nil {
		return err
	}
	say(map[string]any{"open": asked.VerificationURI, "code": asked.UserCode, "complete": asked.VerificationURIComplete})
	// It asks again and again by itself, as slowly as it is told.
	token, err := config.DeviceAccessToken(ctx, asked)
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) {
		say(map[string]any{"error": refused.ErrorCode})
		return nil
	}
	if err != nil {
		return err
	}
	id, err := identity(ctx, provider, config, token)
	if err != nil {
		return err
	}
	info, err := userinfo(ctx, provider, token)
	if err != nil {
		return err
	}
	say(map[string]any{"sub": id.Subject, "userinfo": info})
	return nil
}
