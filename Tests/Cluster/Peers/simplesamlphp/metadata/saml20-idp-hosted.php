<?php

$settings = json_decode(file_get_contents(getenv('PEER_FOLDER') . '/settings.json'), true);

$metadata[$settings['address'] . '/idp'] = [
    'host' => '__DEFAULT__',
    'privatekey' => 'idp.key',
    'certificate' => 'idp.crt',
    'auth' => 'people',
    'authproc' => [3 => ['class' => 'saml:PersistentNameID', 'attribute' => 'uid']],
    'attributes.NameFormat' => 'urn:oasis:names:tc:SAML:2.0:attrname-format:basic',
    'NameIDFormat' => 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
    'signature.algorithm' => 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    'saml20.sign.assertion' => in_array($settings['signs'], ['assertion', 'both']),
    'saml20.sign.response' => in_array($settings['signs'], ['response', 'both']),
    'assertion.encryption' => $settings['encrypts'] !== '',
    'validate.authnrequest' => true,
    'redirect.sign' => true,
    'redirect.validate' => true,
    'sign.logout' => true,
    'validate.logout' => true,
    'saml20.sendartifact' => false,
];
