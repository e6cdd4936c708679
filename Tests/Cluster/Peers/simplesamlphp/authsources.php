<?php

$config = [
    'people' => [
        'exampleauth:UserPass',
        'ada:ada' => ['uid' => ['ada'], 'householdID' => ['house-ada']],
        'ben:ben' => ['uid' => ['ben'], 'householdID' => ['house-ben']],
    ],
];
