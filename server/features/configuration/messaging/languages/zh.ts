// What messages say in Chinese.
import type { MessageWords } from '../words.ts';

export const words: MessageWords = {
  templates: {
    'otp-sms': { subject: null, body: '{{code}} 是您在 {{realm}} 的验证码。有效期：{{ttl}}。' },
    'otp-email': {
      subject: '{{code}} 是您在 {{realm}} 的验证码',
      body: `{{user}}，您好：

您在 {{realm}} 的验证码是

    {{code}}

有效期：{{ttl}}。如果您现在没有登录，请忽略此邮件，不要将验证码告诉任何人。
`,
    },
    'magic-link-email': {
      subject: '登录 {{realm}}',
      body: `{{user}}，您好：

请在您请求此链接的浏览器中打开它，即可登录 {{realm}}：

{{link}}

链接只能使用一次。有效期：{{ttl}}。如果不是您请求的，请忽略此邮件。
`,
    },
    'verify-email': {
      subject: '确认您在 {{realm}} 的电子邮件地址',
      body: `{{user}}，您好：

请确认这是您的电子邮件地址：在要求输入的地方输入此验证码

    {{code}}

或在同一浏览器中打开此链接：

{{link}}

两者都只能使用一次。有效期：{{ttl}}。如果您没有在 {{realm}} 请求过，请忽略此邮件，不要将验证码告诉任何人。
`,
    },
    'reset-password-email': {
      subject: '为 {{realm}} 设置新密码',
      body: `{{user}}，您好：

请打开此链接，为 {{realm}} 设置新密码：

{{link}}

链接只能使用一次。有效期：{{ttl}}。如果不是您请求的，请忽略此邮件；您的密码保持不变。
`,
    },
    'invitation-email': {
      subject: '{{realm}} 的邀请',
      body: `您好：

{{inviter}} 邀请您加入 {{organization}}。请打开此链接开始：

{{link}}

链接只能使用一次。有效期：{{ttl}}。如果您没有在等待邀请，请忽略此邮件。
`,
    },
    'new-device-email': {
      subject: '{{realm}} 有新的登录',
      body: `{{user}}，您好：

您在 {{realm}} 的帐户在一台此前未见过的设备上使用过：

    {{device}}
    {{place}}
    {{time}}

如果是您本人，无需任何操作。如果不是，请打开此链接；它会使所有会话退出登录：

{{link}}
`,
    },
    'account-exists-email': {
      subject: '您在 {{realm}} 已有帐户',
      body: `{{user}}，您好：

有人（也许是您）在 {{realm}} 使用此电子邮件地址创建帐户。此地址已有帐户；其用户名是

    {{user.username}}

您可以在此登录；如果忘记了密码，可以设置新密码：

{{link}}

如果不是您本人，无需任何操作：没有人得知您有帐户。
`,
    },
    'account-changed-email': {
      subject: '您在 {{realm}} 的帐户已更改',
      body: `{{user}}，您好：

{{realm}} 有更改：{{change}}。

    {{time}}

如果是您本人，无需任何操作。如果不是，请设置新密码，并立即联系管理员。
`,
    },
    'agent-review-email': {
      subject: '{{agent}} 还需要吗？',
      body: `{{user}}，您好：

您负责 {{realm}} 的代理 {{agent}}，其审查截止日期为 {{time}}。请在您的账户页面确认它仍然需要：否则它将被暂停。

{{link}}
`,
    },
    'resource-request-email': {
      subject: '{{requester}} 请求访问您的内容',
      body: `{{user}}，您好：

{{requester}} 请您共享 {{client}} 中的 {{resource}}。您可以在帐户页面上允许或拒绝：

{{link}}

在此之前不会共享任何内容。
`,
    },
    'push-challenge': {
      subject: '要登录 {{realm}} 吗？',
      body: '有人正在登录 {{realm}}。{{user}}，是您本人吗？',
    },
    'push-transaction': { subject: '{{client}}', body: '{{user}}，请查看并签署，或予以拒绝。' },
  },
  changes: {
    'password-changed': '您的密码已更改',
    'email-changed': '您的电子邮件地址已更改',
    'profile-changed': '您的个人资料已更改',
    'credential-added': '已设置新的登录方式',
    'credential-removed': '已移除一种登录方式',
    'identity-linked': '已关联另一身份提供方的帐户，今后您可以用它登录',
    'identity-unlinked': '已取消关联另一身份提供方的帐户',
    'sessions-ended': '您的其他会话已结束',
    'browser-forgotten': '一个已知属于您的浏览器已被忘记；下次用它登录将视为在新设备上登录',
    'push-denied': '一次要求您的设备批准的登录已在该设备上被拒绝（发起者已通过前一步，通常是您的密码）',
    'data-exported': '您的数据已被下载',
    'account-deleted': '您的帐户已被删除',
  },
};
