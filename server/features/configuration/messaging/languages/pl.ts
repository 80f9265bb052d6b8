// What messages say in Polish.
import type { MessageWords } from '../words.ts';

export const words: MessageWords = {
  templates: {
    'otp-sms': { subject: null, body: '{{code}} to kod do {{realm}}. Ważność: {{ttl}}.' },
    'otp-email': {
      subject: '{{code}} to kod do {{realm}}',
      body: `Dzień dobry, {{user}},

kod do {{realm}} to

    {{code}}

Ważność: {{ttl}}. Jeśli nikt się teraz nie loguje, proszę zignorować tę wiadomość i nikomu nie podawać kodu.
`,
    },
    'magic-link-email': {
      subject: 'Logowanie do {{realm}}',
      body: `Dzień dobry, {{user}},

proszę otworzyć ten odnośnik w przeglądarce, w której o niego poproszono, aby zalogować się do {{realm}}:

{{link}}

Działa jeden raz. Ważność: {{ttl}}. Jeśli nikt o niego nie prosił, proszę zignorować tę wiadomość.
`,
    },
    'verify-email': {
      subject: 'Potwierdzenie adresu e-mail dla {{realm}}',
      body: `Dzień dobry, {{user}},

proszę potwierdzić, że to właściwy adres e-mail: wpisać ten kod tam, gdzie jest potrzebny

    {{code}}

albo otworzyć ten odnośnik w tej samej przeglądarce:

{{link}}

Oba działają jeden raz. Ważność: {{ttl}}. Jeśli nikt nie prosił o to w {{realm}}, proszę zignorować tę wiadomość i nikomu nie podawać kodu.
`,
    },
    'reset-password-email': {
      subject: 'Nowe hasło do {{realm}}',
      body: `Dzień dobry, {{user}},

pod tym odnośnikiem można ustawić nowe hasło do {{realm}}:

{{link}}

Działa jeden raz. Ważność: {{ttl}}. Jeśli nikt o niego nie prosił, proszę zignorować tę wiadomość; hasło pozostaje bez zmian.
`,
    },
    'invitation-email': {
      subject: 'Zaproszenie do {{realm}}',
      body: `Dzień dobry,

{{inviter}} zaprasza do {{organization}}. Aby zacząć, proszę otworzyć ten odnośnik:

{{link}}

Działa jeden raz. Ważność: {{ttl}}. Jeśli to zaproszenie jest niespodziewane, proszę zignorować tę wiadomość.
`,
    },
    'new-device-email': {
      subject: 'Nowe logowanie do {{realm}}',
      body: `Dzień dobry, {{user}},

konta w {{realm}} użyto na urządzeniu, które nie było tu dotąd znane:

    {{device}}
    {{place}}
    {{time}}

Jeśli wszystko się zgadza, nie trzeba nic robić. Jeśli nie, proszę otworzyć ten odnośnik; wylogowuje on wszystkich:

{{link}}
`,
    },
    'account-exists-email': {
      subject: 'Konto w {{realm}} już istnieje',
      body: `Dzień dobry, {{user}},

ktoś podał ten adres e-mail w {{realm}}, zakładając konto. Konto z tym adresem już istnieje; jego nazwa użytkownika to

    {{user.username}}

Tutaj można się zalogować, a jeśli hasło zostało zapomniane, ustawić nowe:

{{link}}

Jeśli zrobił to ktoś inny, nie trzeba nic robić: nikt nie dowiedział się o istnieniu konta.
`,
    },
    'account-changed-email': {
      subject: 'Konto w {{realm}} zostało zmienione',
      body: `Dzień dobry, {{user}},

zmiana w {{realm}}: {{change}}.

    {{time}}

Jeśli wszystko się zgadza, nie trzeba nic robić. Jeśli nie, proszę ustawić nowe hasło i od razu zwrócić się do administratora.
`,
    },
    'agent-review-email': {
      subject: 'Czy {{agent}} jest jeszcze potrzebny?',
      body: `Dzień dobry, {{user}},

do tego konta należy odpowiedzialność za agenta {{agent}} w {{realm}}, a termin jego przeglądu to {{time}}. Proszę potwierdzić na stronie konta,
że jest jeszcze potrzebny: w przeciwnym razie zostanie zawieszony.

{{link}}
`,
    },
    'resource-request-email': {
      subject: '{{requester}} prosi o dostęp',
      body: `Dzień dobry, {{user}},

{{requester}} prosi o udostępnienie {{resource}} w {{client}}. Można na to zezwolić albo odmówić na stronie konta:

{{link}}

Do tego czasu nic nie jest udostępniane.
`,
    },
    'push-challenge': {
      subject: 'Zalogować do {{realm}}?',
      body: 'Ktoś loguje się do {{realm}}. Czy to Ty, {{user}}?',
    },
    'push-transaction': { subject: '{{client}}', body: '{{user}}, proszę to sprawdzić i podpisać albo odrzucić.' },
  },
  changes: {
    'password-changed': 'zmieniono hasło',
    'email-changed': 'zmieniono adres e-mail',
    'profile-changed': 'zmieniono profil',
    'credential-added': 'skonfigurowano nowy sposób logowania',
    'credential-removed': 'usunięto sposób logowania',
    'identity-linked': 'połączono konto u innego dostawcy tożsamości, którym można się odtąd logować',
    'identity-unlinked': 'odłączono konto u innego dostawcy tożsamości',
    'sessions-ended': 'zakończono pozostałe sesje',
    'browser-forgotten':
      'zapomniano znaną przeglądarkę; następne logowanie z niej będzie liczone jako logowanie na nowym urządzeniu',
    'push-denied':
      'na urządzeniu odrzucono logowanie, które o nie prosiło (kto je rozpoczął, przeszedł poprzedni krok, najczęściej hasło)',
    'data-exported': 'pobrano dane konta',
    'account-deleted': 'usunięto konto',
  },
};
