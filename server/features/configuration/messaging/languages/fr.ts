// What messages say in French.
import type { MessageWords } from '../words.ts';

export const words: MessageWords = {
  templates: {
    'otp-sms': { subject: null, body: '{{code}} est votre code pour {{realm}}. Durée de validité : {{ttl}}.' },
    'otp-email': {
      subject: '{{code}} est votre code pour {{realm}}',
      body: `Bonjour {{user}},

votre code pour {{realm}} est

    {{code}}

Durée de validité : {{ttl}}. Si vous n’êtes pas en train de vous connecter, ignorez ce message et ne donnez le code à personne.
`,
    },
    'magic-link-email': {
      subject: 'Se connecter à {{realm}}',
      body: `Bonjour {{user}},

ouvrez ce lien dans le navigateur où vous l’avez demandé, et vous serez connecté à {{realm}} :

{{link}}

Il fonctionne une seule fois. Durée de validité : {{ttl}}. Si vous ne l’avez pas demandé, ignorez ce message.
`,
    },
    'verify-email': {
      subject: 'Confirmez votre adresse e-mail pour {{realm}}',
      body: `Bonjour {{user}},

confirmez que cette adresse e-mail est la vôtre : saisissez ce code là où il vous est demandé

    {{code}}

ou ouvrez ce lien dans le même navigateur :

{{link}}

Les deux fonctionnent une seule fois. Durée de validité : {{ttl}}. Si vous n’avez rien demandé à {{realm}}, ignorez ce message et ne donnez le code à personne.
`,
    },
    'reset-password-email': {
      subject: 'Choisissez un nouveau mot de passe pour {{realm}}',
      body: `Bonjour {{user}},

choisissez un nouveau mot de passe pour {{realm}} en ouvrant ce lien :

{{link}}

Il fonctionne une seule fois. Durée de validité : {{ttl}}. Si vous ne l’avez pas demandé, ignorez ce message ; votre mot de passe ne change pas.
`,
    },
    'invitation-email': {
      subject: 'Invitation à {{realm}}',
      body: `Bonjour,

{{inviter}} vous invite à rejoindre {{organization}}. Ouvrez ce lien pour commencer :

{{link}}

Il fonctionne une seule fois. Durée de validité : {{ttl}}. Si vous n’attendez pas d’invitation, ignorez ce message.
`,
    },
    'new-device-email': {
      subject: 'Nouvelle connexion à {{realm}}',
      body: `Bonjour {{user}},

votre compte chez {{realm}} a été utilisé sur un appareil qui n’était pas connu ici :

    {{device}}
    {{place}}
    {{time}}

Si c’était vous, il n’y a rien à faire. Sinon, ouvrez ce lien ; il déconnecte tout le monde :

{{link}}
`,
    },
    'account-exists-email': {
      subject: 'Vous avez déjà un compte chez {{realm}}',
      body: `Bonjour {{user}},

quelqu’un, peut-être vous, a donné cette adresse e-mail chez {{realm}} pour un compte. Il en existe déjà un avec elle ; son nom d’utilisateur est

    {{user.username}}

Vous pouvez vous connecter ici, et choisir un nouveau mot de passe si vous l’avez oublié :

{{link}}

Si ce n’était pas vous, il n’y a rien à faire : personne n’a appris que vous avez un compte.
`,
    },
    'account-changed-email': {
      subject: 'Votre compte chez {{realm}} a été modifié',
      body: `Bonjour {{user}},

chez {{realm}}, {{change}} :

    {{time}}

Si c’était vous, il n’y a rien à faire. Sinon, choisissez un nouveau mot de passe et adressez-vous aussitôt à un administrateur.
`,
    },
    'agent-review-email': {
      subject: '{{agent}} est-il encore utile ?',
      body: `Bonjour {{user}},

vous répondez de l’agent {{agent}} de {{realm}}, et son contrôle est à faire avant le {{time}}. Confirmez sur la page de votre compte
qu’il est encore utile : sinon, il est suspendu.

{{link}}
`,
    },
    'resource-request-email': {
      subject: '{{requester}} vous demande un accès',
      body: `Bonjour {{user}},

{{requester}} vous demande de partager {{resource}} chez {{client}}. Vous pouvez accepter ou refuser sur la page de votre compte :

{{link}}

D’ici là, rien n’est partagé.
`,
    },
    'push-challenge': {
      subject: 'Se connecter à {{realm}} ?',
      body: 'Quelqu’un se connecte à {{realm}}. Est-ce vous, {{user}} ?',
    },
    'push-transaction': {
      subject: '{{client}}',
      body: 'Veuillez regarder ceci, {{user}}, et le signer ou le refuser.',
    },
  },
  changes: {
    'password-changed': 'votre mot de passe a été modifié',
    'email-changed': 'votre adresse e-mail a été modifiée',
    'profile-changed': 'votre profil a été modifié',
    'credential-added': 'un nouveau moyen de connexion a été configuré',
    'credential-removed': 'un moyen de connexion a été supprimé',
    'identity-linked':
      'un compte chez un autre fournisseur d’identité a été associé, avec lequel vous pouvez désormais vous connecter',
    'identity-unlinked': 'un compte chez un autre fournisseur d’identité a été dissocié',
    'sessions-ended': 'vos autres sessions ont été fermées',
    'browser-forgotten':
      'un navigateur connu comme le vôtre a été oublié ; la prochaine connexion avec lui comptera comme celle d’un nouvel appareil',
    'push-denied':
      'une connexion qui demandait votre appareil y a été refusée (la personne qui l’a commencée avait passé l’étape précédente, le plus souvent votre mot de passe)',
    'data-exported': 'vos données ont été téléchargées',
    'account-deleted': 'votre compte a été supprimé',
  },
};
