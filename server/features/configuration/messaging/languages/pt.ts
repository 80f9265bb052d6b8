// What messages say in Portuguese.
import type { MessageWords } from '../words.ts';

export const words: MessageWords = {
  templates: {
    'otp-sms': { subject: null, body: '{{code}} é o seu código para {{realm}}. Validade: {{ttl}}.' },
    'otp-email': {
      subject: '{{code}} é o seu código para {{realm}}',
      body: `Olá, {{user}},

o seu código para {{realm}} é

    {{code}}

Validade: {{ttl}}. Se você não está entrando agora, ignore esta mensagem e não dê o código a ninguém.
`,
    },
    'magic-link-email': {
      subject: 'Entrar em {{realm}}',
      body: `Olá, {{user}},

abra este link no navegador em que o pediu e você terá entrado em {{realm}}:

{{link}}

Ele funciona uma única vez. Validade: {{ttl}}. Se você não o pediu, ignore esta mensagem.
`,
    },
    'verify-email': {
      subject: 'Confirme o seu endereço de e-mail para {{realm}}',
      body: `Olá, {{user}},

confirme que este é o seu endereço de e-mail: digite este código onde ele for pedido

    {{code}}

ou abra este link no mesmo navegador:

{{link}}

Ambos funcionam uma única vez. Validade: {{ttl}}. Se você não pediu isto em {{realm}}, ignore esta mensagem e não dê o código a ninguém.
`,
    },
    'reset-password-email': {
      subject: 'Escolha uma nova senha para {{realm}}',
      body: `Olá, {{user}},

escolha uma nova senha para {{realm}} abrindo este link:

{{link}}

Ele funciona uma única vez. Validade: {{ttl}}. Se você não o pediu, ignore esta mensagem; a sua senha continua a mesma.
`,
    },
    'invitation-email': {
      subject: 'Convite para {{realm}}',
      body: `Olá,

{{inviter}} convida você para {{organization}}. Abra este link para começar:

{{link}}

Ele funciona uma única vez. Validade: {{ttl}}. Se você não espera um convite, ignore esta mensagem.
`,
    },
    'new-device-email': {
      subject: 'Nova entrada em {{realm}}',
      body: `Olá, {{user}},

a sua conta em {{realm}} foi usada em um dispositivo que ainda não era conhecido aqui:

    {{device}}
    {{place}}
    {{time}}

Se foi você, não há nada a fazer. Se não, abra este link; ele encerra todas as sessões:

{{link}}
`,
    },
    'account-exists-email': {
      subject: 'Você já tem uma conta em {{realm}}',
      body: `Olá, {{user}},

alguém, talvez você, deu este endereço de e-mail em {{realm}} para uma conta. Já existe uma com ele; o nome de usuário dela é

    {{user.username}}

Você pode entrar aqui, e escolher uma nova senha se a esqueceu:

{{link}}

Se não foi você, não há nada a fazer: ninguém soube que você tem uma conta.
`,
    },
    'account-changed-email': {
      subject: 'A sua conta em {{realm}} foi alterada',
      body: `Olá, {{user}},

em {{realm}}, {{change}}:

    {{time}}

Se foi você, não há nada a fazer. Se não, escolha uma nova senha e fale logo com um administrador.
`,
    },
    'agent-review-email': {
      subject: '{{agent}} ainda é necessário?',
      body: `Olá, {{user}},

você responde pelo agente {{agent}} de {{realm}}, e a revisão dele vence em {{time}}. Confirme na página da sua conta que ele ainda é
necessário: caso contrário, será suspenso.

{{link}}
`,
    },
    'resource-request-email': {
      subject: '{{requester}} pede acesso a algo seu',
      body: `Olá, {{user}},

{{requester}} pede que você compartilhe {{resource}} em {{client}}. Você pode permitir ou recusar na página da sua conta:

{{link}}

Até lá, nada é compartilhado.
`,
    },
    'push-challenge': {
      subject: 'Entrar em {{realm}}?',
      body: 'Alguém está entrando em {{realm}}. É você, {{user}}?',
    },
    'push-transaction': { subject: '{{client}}', body: 'Veja isto, {{user}}, e assine ou recuse.' },
  },
  changes: {
    'password-changed': 'a sua senha foi alterada',
    'email-changed': 'o seu endereço de e-mail foi alterado',
    'profile-changed': 'o seu perfil foi alterado',
    'credential-added': 'foi configurada uma nova forma de entrar',
    'credential-removed': 'foi removida uma forma de entrar',
    'identity-linked':
      'foi conectada uma conta de outro provedor de identidade, com a qual você pode entrar de agora em diante',
    'identity-unlinked': 'foi desconectada uma conta de outro provedor de identidade',
    'sessions-ended': 'as suas outras sessões foram encerradas',
    'browser-forgotten':
      'um navegador conhecido como seu foi esquecido; a próxima entrada com ele contará como uma em um dispositivo novo',
    'push-denied':
      'uma entrada que pedia o seu dispositivo foi recusada nele (quem a começou tinha passado a etapa anterior, quase sempre a sua senha)',
    'data-exported': 'os seus dados foram baixados',
    'account-deleted': 'a sua conta foi excluída',
  },
};
