// What messages say in Japanese.
import type { MessageWords } from '../words.ts';

export const words: MessageWords = {
  templates: {
    'otp-sms': { subject: null, body: '{{realm}} のコードは {{code}} です。有効期間：{{ttl}}' },
    'otp-email': {
      subject: '{{realm}} のコード：{{code}}',
      body: `{{user}} 様

{{realm}} のコードは次のとおりです。

    {{code}}

有効期間：{{ttl}}。今サインインしていない場合は、このメールを無視し、コードを誰にも教えないでください。
`,
    },
    'magic-link-email': {
      subject: '{{realm}} へのサインイン',
      body: `{{user}} 様

リンクを求めたブラウザーでこのリンクを開くと、{{realm}} にサインインできます。

{{link}}

使えるのは一度だけです。有効期間：{{ttl}}。心当たりがない場合は、このメールを無視してください。
`,
    },
    'verify-email': {
      subject: '{{realm}} のメールアドレスの確認',
      body: `{{user}} 様

ご本人のメールアドレスであることを確認してください。求められた場所にこのコードを入力するか、

    {{code}}

同じブラウザーでこのリンクを開いてください。

{{link}}

どちらも使えるのは一度だけです。有効期間：{{ttl}}。{{realm}} で手続きをしていない場合は、このメールを無視し、コードを誰にも教えないでください。
`,
    },
    'reset-password-email': {
      subject: '{{realm}} の新しいパスワードの設定',
      body: `{{user}} 様

このリンクを開いて、{{realm}} の新しいパスワードを設定してください。

{{link}}

使えるのは一度だけです。有効期間：{{ttl}}。心当たりがない場合は、このメールを無視してください。パスワードは変わりません。
`,
    },
    'invitation-email': {
      subject: '{{realm}} への招待',
      body: `{{inviter}} さんから {{organization}} への招待が届いています。始めるには、このリンクを開いてください。

{{link}}

使えるのは一度だけです。有効期間：{{ttl}}。心当たりがない場合は、このメールを無視してください。
`,
    },
    'new-device-email': {
      subject: '{{realm}} への新しいサインイン',
      body: `{{user}} 様

{{realm}} のアカウントが、これまでに使われたことのないデバイスで使われました。

    {{device}}
    {{place}}
    {{time}}

ご本人であれば、何もする必要はありません。そうでなければ、このリンクを開いてください。すべてのセッションからサインアウトします。

{{link}}
`,
    },
    'account-exists-email': {
      subject: '{{realm}} のアカウントはすでにあります',
      body: `{{user}} 様

どなたか（ご本人かもしれません）が、{{realm}} のアカウント作成にこのメールアドレスを入力しました。このアドレスのアカウントはすでにあります。ユーザー名：

    {{user.username}}

ここからサインインできます。パスワードを忘れた場合は、新しく設定できます。

{{link}}

ご本人でない場合も、何もする必要はありません。アカウントがあることは誰にも知らされていません。
`,
    },
    'account-changed-email': {
      subject: '{{realm}} のアカウントが変更されました',
      body: `{{user}} 様

{{realm}} で次の変更がありました：{{change}}。

    {{time}}

ご本人であれば、何もする必要はありません。そうでなければ、新しいパスワードを設定し、すぐに管理者にお問い合わせください。
`,
    },
    'agent-review-email': {
      subject: '{{agent}} はまだ必要ですか',
      body: `{{user}} 様

あなたは {{realm}} のエージェント {{agent}} の責任者です。確認の期限は {{time}} です。まだ必要であることをアカウントページで確認してください。
確認がない場合は停止されます。

{{link}}
`,
    },
    'resource-request-email': {
      subject: '{{requester}} さんから共有の依頼があります',
      body: `{{user}} 様

{{requester}} さんが {{client}} の {{resource}} の共有を求めています。アカウントのページで許可または拒否できます。

{{link}}

それまでは何も共有されません。
`,
    },
    'push-challenge': {
      subject: '{{realm}} にサインインしますか',
      body: '{{realm}} にサインインしようとしています。{{user}} さんご本人ですか。',
    },
    'push-transaction': { subject: '{{client}}', body: '{{user}} さん、内容を確認して、署名するか拒否してください。' },
  },
  changes: {
    'password-changed': 'パスワードが変更されました',
    'email-changed': 'メールアドレスが変更されました',
    'profile-changed': 'プロフィールが変更されました',
    'credential-added': '新しいサインイン方法が設定されました',
    'credential-removed': 'サインイン方法が削除されました',
    'identity-linked': '別の ID プロバイダーのアカウントが接続され、今後そのアカウントでサインインできます',
    'identity-unlinked': '別の ID プロバイダーのアカウントの接続が解除されました',
    'sessions-ended': 'ほかのセッションが終了しました',
    'browser-forgotten':
      'あなたのものとして知られていたブラウザーの記憶が消されました。次にそのブラウザーでサインインすると、新しいデバイスでのサインインとして扱われます',
    'push-denied':
      'デバイスでの承認を求めたサインインが、そのデバイスで拒否されました（始めた人は、その前の段階、多くの場合パスワードを通過しています）',
    'data-exported': 'あなたのデータがダウンロードされました',
    'account-deleted': 'アカウントが削除されました',
  },
};
