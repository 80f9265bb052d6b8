// What messages say in Turkish.
import type { MessageWords } from '../words.ts';

export const words: MessageWords = {
  templates: {
    'otp-sms': { subject: null, body: '{{realm}} için kodunuz: {{code}}. Geçerlilik süresi: {{ttl}}.' },
    'otp-email': {
      subject: '{{realm}} için kodunuz: {{code}}',
      body: `Merhaba {{user}},

{{realm}} için kodunuz:

    {{code}}

Geçerlilik süresi: {{ttl}}. Şu anda oturum açmıyorsanız bu iletiyi dikkate almayın ve kodu kimseye vermeyin.
`,
    },
    'magic-link-email': {
      subject: '{{realm}} oturumu açın',
      body: `Merhaba {{user}},

bu bağlantıyı, istediğiniz tarayıcıda açın; {{realm}} oturumunuz açılır:

{{link}}

Bir kez çalışır. Geçerlilik süresi: {{ttl}}. Siz istemediyseniz bu iletiyi dikkate almayın.
`,
    },
    'verify-email': {
      subject: '{{realm}} için e-posta adresinizi doğrulayın',
      body: `Merhaba {{user}},

bunun sizin e-posta adresiniz olduğunu doğrulayın: sorulduğu yere bu kodu girin

    {{code}}

veya bu bağlantıyı aynı tarayıcıda açın:

{{link}}

İkisi de bir kez çalışır. Geçerlilik süresi: {{ttl}}. {{realm}} üzerinde bunu siz istemediyseniz bu iletiyi dikkate almayın ve kodu kimseye vermeyin.
`,
    },
    'reset-password-email': {
      subject: '{{realm}} için yeni bir parola belirleyin',
      body: `Merhaba {{user}},

bu bağlantıyı açarak {{realm}} için yeni bir parola belirleyin:

{{link}}

Bir kez çalışır. Geçerlilik süresi: {{ttl}}. Siz istemediyseniz bu iletiyi dikkate almayın; parolanız aynı kalır.
`,
    },
    'invitation-email': {
      subject: '{{realm}} daveti',
      body: `Merhaba,

{{inviter}} sizi davet ediyor: {{organization}}. Başlamak için bu bağlantıyı açın:

{{link}}

Bir kez çalışır. Geçerlilik süresi: {{ttl}}. Davet beklemiyorsanız bu iletiyi dikkate almayın.
`,
    },
    'new-device-email': {
      subject: '{{realm}} için yeni oturum',
      body: `Merhaba {{user}},

{{realm}} hesabınız, daha önce burada bilinmeyen bir cihazda kullanıldı:

    {{device}}
    {{place}}
    {{time}}

Bu sizseniz yapmanız gereken bir şey yok. Değilseniz bu bağlantıyı açın; herkesin oturumunu kapatır:

{{link}}
`,
    },
    'account-exists-email': {
      subject: '{{realm}} üzerinde zaten bir hesabınız var',
      body: `Merhaba {{user}},

birisi, belki de siz, {{realm}} üzerinde bir hesap için bu e-posta adresini verdi. Bu adresle zaten bir hesap var; kullanıcı adı:

    {{user.username}}

Buradan oturum açabilir, parolanızı unuttuysanız yenisini belirleyebilirsiniz:

{{link}}

Bu siz değilseniz yapmanız gereken bir şey yok: Hesabınız olduğunu kimse öğrenmedi.
`,
    },
    'account-changed-email': {
      subject: '{{realm}} hesabınız değişti',
      body: `Merhaba {{user}},

{{realm}} üzerinde bir değişiklik oldu: {{change}}.

    {{time}}

Bu sizseniz yapmanız gereken bir şey yok. Değilseniz yeni bir parola belirleyin ve hemen bir yöneticiye başvurun.
`,
    },
    'agent-review-email': {
      subject: '{{agent}} hâlâ gerekli mi?',
      body: `Merhaba {{user}},

{{realm}} üzerindeki {{agent}} aracısından siz sorumlusunuz; gözden geçirme tarihi: {{time}}. Hâlâ gerekli olduğunu hesap
sayfanızda onaylayın: Aksi hâlde askıya alınır.

{{link}}
`,
    },
    'resource-request-email': {
      subject: '{{requester}} sizden erişim istiyor',
      body: `Merhaba {{user}},

{{requester}}, {{client}} üzerindeki {{resource}} için paylaşım istiyor. Hesap sayfanızda izin verebilir ya da reddedebilirsiniz:

{{link}}

O zamana kadar hiçbir şey paylaşılmaz.
`,
    },
    'push-challenge': {
      subject: '{{realm}} oturumu açılsın mı?',
      body: 'Birisi {{realm}} oturumu açıyor. Siz misiniz, {{user}}?',
    },
    'push-transaction': { subject: '{{client}}', body: '{{user}}, lütfen buna bakın ve imzalayın ya da reddedin.' },
  },
  changes: {
    'password-changed': 'parolanız değiştirildi',
    'email-changed': 'e-posta adresiniz değiştirildi',
    'profile-changed': 'profiliniz değiştirildi',
    'credential-added': 'yeni bir oturum açma yöntemi kuruldu',
    'credential-removed': 'bir oturum açma yöntemi kaldırıldı',
    'identity-linked': 'başka bir kimlik sağlayıcısındaki bir hesap bağlandı; bundan sonra onunla oturum açabilirsiniz',
    'identity-unlinked': 'başka bir kimlik sağlayıcısındaki bir hesabın bağlantısı kaldırıldı',
    'sessions-ended': 'diğer oturumlarınız kapatıldı',
    'browser-forgotten':
      'sizin olduğu bilinen bir tarayıcı unutuldu; onunla bir sonraki oturum açma yeni bir cihazda sayılır',
    'push-denied':
      'cihazınızı isteyen bir oturum açma orada reddedildi (başlatan kişi önceki adımı, çoğunlukla parolanızı geçmişti)',
    'data-exported': 'verileriniz indirildi',
    'account-deleted': 'hesabınız silindi',
  },
};
