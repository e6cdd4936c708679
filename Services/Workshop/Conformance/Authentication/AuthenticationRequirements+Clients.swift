internal import ContractRuntime
internal import Clocks
internal import Contracts
internal import Cryptography
internal import Frames

extension AuthenticationRequirements {
    static let clients = [
        Requirement(
            "AUTHN-1", "RegisterClient makes a new client of a genuine software statement, with the application's scopes.",
            source: "authentication.proto RegisterClient"
        ) { examination in
            let conversation = try await examination.greet()
            let request = RegisterClientRequest(softwareStatement: try await examination.statement(of: "acme-tv"))
            let client = try await conversation.call(AuthenticationMethods.registerClient, request)
            let other = try await conversation.call(AuthenticationMethods.registerClient, request)
            guard !client.clientID.isEmpty, !client.clientSecret.isEmpty, client.clientID != other.clientID else {
                throw Unmet("an id and a secret for each client", came: FrameText.text(other))
            }
            guard client.grantTypes == ["client_credentials"], client.scopes.contains("api:client:v1") else {
                throw Unmet("grant_types [client_credentials], scopes with api:client:v1", came: FrameText.text(client))
            }
            let now = SystemClock().now().seconds
            guard abs(now - Int64(clamping: client.issuedAtSeconds)) < 300 else {
                throw Unmet("issued_at_s of now", came: "\(client.issuedAtSeconds)")
            }
        },
        Requirement(
            "AUTHN-2", "RegisterClient refuses an absent statement (`invalid_request`) and one that is not genuine (`invalid_software_statement`).",
            source: "authentication.proto RegisterClient"
        ) { examination in
            let conversation = try await examination.greet()
            let method = AuthenticationMethods.registerClient
            try await conversation.refusal(of: method, RegisterClientRequest(), codes: ["invalid_request"])
            let genuine = try await examination.statement(of: "acme-tv")
            for statement in ["nonsense", String(genuine.dropLast(12)) + "AAAAAAAAAAAA"] {
                let request = RegisterClientRequest(softwareStatement: statement)
                try await conversation.refusal(of: method, request, codes: ["invalid_software_statement"])
            }
        },
        Requirement(
            "AUTHN-3",
            "A statement whose software_id left the catalogue is refused (`unapproved_software_statement`), and so are its clients (`invalid_client`).",
            source: "authentication.proto RegisterClient, config.proto Application.software_ids"
        ) { examination in
            let app = try await TestApp(examination, application: "bravo-tv")
            let request = RegisterClientRequest(softwareStatement: try await examination.statement(of: "bravo-tv"))
            let verify = VerifyAccessTokenRequest(accessToken: app.token)
            let revoke: (inout Configuration) -> Void = { configuration in
                for index in configuration.applications.indices where configuration.applications[index].id == "bravo-tv" {
                    configuration.applications[index].softwareIDs = []
                }
            }
            let isRevoked = { () async throws -> Bool in
                guard case .fault = try await app.conversation.outcome(of: AuthenticationMethods.verifyAccessToken, verify) else { return false }
                return true
            }
            try await examination.peers().withCatalogue(revoke, until: isRevoked) {
                try await app.conversation.refusal(of: AuthenticationMethods.verifyAccessToken, verify, codes: ["invalid_client"])
                try await app.conversation.refusal(of: AuthenticationMethods.registerClient, request, codes: ["unapproved_software_statement"])
            }
            try await app.conversation.call(AuthenticationMethods.verifyAccessToken, verify)
        },
        Requirement(
            "AUTHN-4", "RegisterClient takes a redirect_uri under the application's domains and refuses others (`invalid_redirect_uri`).",
            source: "authentication.proto RegisterClient, config.proto Application.redirect_domains"
        ) { examination in
            let conversation = try await examination.greet()
            var request = RegisterClientRequest(softwareStatement: try await examination.statement(of: "acme-tv"))
            request.redirectURI = "https://www.acme.example/app"
            let client = try await conversation.call(AuthenticationMethods.registerClient, request)
            guard client.redirectUris == [request.redirectURI] else {
                throw Unmet("redirect_uris [\(request.redirectURI)]", came: "\(client.redirectUris)")
            }
            request.redirectURI = "https://elsewhere.example/"
            try await conversation.refusal(of: AuthenticationMethods.registerClient, request, codes: ["invalid_redirect_uri"])
        },
        Requirement(
            "AUTHN-5", "IssueAccessToken gives a client a token for its credentials, which VerifyAccessToken knows on every connection.",
            source: "authentication.proto IssueAccessToken, VerifyAccessToken"
        ) { examination in
            let app = try await TestApp(examination)
            let verified = try await examination.greet().call(
                AuthenticationMethods.verifyAccessToken, VerifyAccessTokenRequest(accessToken: app.token, requestor: "ACME1"))
            guard verified.clientID == app.client.clientID, verified.applicationID == "acme-tv", verified.scopes.contains("api:client:v1"),
                Set(verified.requestorIDs) == ["ACME1", "ACME2"]
            else { throw Unmet("client \(app.client.clientID) of acme-tv for ACME1 and ACME2", came: FrameText.text(verified)) }
            guard verified.expiresAtMilliseconds > UInt64(clamping: SystemClock().now().milliseconds) else {
                throw Unmet("a token that is not over", came: "\(verified.expiresAtMilliseconds)")
            }
        },
        Requirement(
            "AUTHN-6",
            "IssueAccessToken refuses wrong credentials (`invalid_client`), other grants (`unsupported_grant_type`), absent fields (`invalid_request`).",
            source: "authentication.proto IssueAccessToken"
        ) { examination in
            let app = try await TestApp(examination)
            let good = IssueAccessTokenRequest(
                clientID: app.client.clientID, clientSecret: app.client.clientSecret, grantType: "client_credentials")
            var (wrong, unknown, grant, empty) = (good, good, good, good)
            wrong.clientSecret = "wrong"
            unknown.clientID = "nobody"
            grant.grantType = "password"
            empty.clientID = ""
            for (request, code) in [
                (wrong, "invalid_client"), (unknown, "invalid_client"), (grant, "unsupported_grant_type"), (empty, "invalid_request"),
            ] {
                try await app.conversation.refusal(of: AuthenticationMethods.issueAccessToken, request, codes: [code])
            }
        },
        Requirement(
            "AUTHN-7",
            "VerifyAccessToken refuses what is no token of the service (`access_denied`), a requestor that the application may not act for (`insufficient_scope`), and one that is not known (`invalid_requestor`).",
            source: "authentication.proto VerifyAccessToken"
        ) { examination in
            let app = try await TestApp(examination)
            let cases = [
                ("", "", "access_denied"), ("nonsense", "", "access_denied"), (app.token + "x", "", "access_denied"),
                (app.token, "BRAVO", "insufficient_scope"),
                (app.token, "NOBODY", "invalid_requestor"),
            ]
            for (token, requestor, code) in cases {
                let request = VerifyAccessTokenRequest(accessToken: token, requestor: requestor)
                try await app.conversation.refusal(of: AuthenticationMethods.verifyAccessToken, request, codes: [code])
            }
        },
        Requirement(
            "AUTHN-8", "RevokeClient ends a client: its tokens and its secret are refused from then on.", source: "authentication.proto RevokeClient"
        ) {
            examination in
            let app = try await TestApp(examination)
            let method = AuthenticationOperationsMethods.revokeClient
            guard try await app.conversation.call(method, RevokeClientRequest(clientID: app.client.clientID)).wasKnown else {
                throw Unmet("was_known", came: "a client that is not known")
            }
            let verify = VerifyAccessTokenRequest(accessToken: app.token)
            try await examination.greet().refusal(of: AuthenticationMethods.verifyAccessToken, verify, codes: ["invalid_client"])
            let issue = IssueAccessTokenRequest(clientID: app.client.clientID, clientSecret: app.client.clientSecret, grantType: "client_credentials")
            try await app.conversation.refusal(of: AuthenticationMethods.issueAccessToken, issue, codes: ["invalid_client"])
            guard try await !app.conversation.call(method, RevokeClientRequest(clientID: "nobody")).wasKnown else {
                throw Unmet("was_known false for an unknown client", came: "true")
            }
        },
        Requirement(
            "AUTHN-53", "PutSecret keeps a secret for its owner alone, and ListSecrets names it and tells nothing of it.",
            source: "authentication.proto PutSecret, ListSecrets"
        ) { examination in
            let conversation = try await examination.greet()
            let put = AuthenticationOperationsMethods.putSecret
            let secret = PutSecretRequest(reference: "conformance-\(TestApp.device())", secret: "a secret of no use", programmerID: "acme")
            guard try await !conversation.call(put, secret).replaced else { throw Unmet("replaced false for a new reference", came: "true") }
            guard try await conversation.call(put, secret).replaced else { throw Unmet("replaced true for one that is kept", came: "false") }
            var other = secret
            other.programmerID = "bravo"
            try await conversation.refusal(of: put, other, codes: ["not_found"])
            var unnamed = secret
            unnamed.reference = "../secret"
            var empty = secret
            empty.secret = ""
            for request in [unnamed, empty] { try await conversation.refusal(of: put, request, codes: ["invalid_request"]) }
            let list = try await conversation.call(AuthenticationOperationsMethods.listSecrets, ListSecretsRequest())
            guard let kept = list.secrets.first(where: { $0.reference == secret.reference }), kept.programmerID == "acme", !kept.isFile else {
                throw Unmet("the reference with its owner", came: FrameText.text(list))
            }
            guard !FrameText.text(list).contains(secret.secret) else { throw Unmet("no secret", came: "the secret in the list") }
        },
    ]

    static let codes = [
        Requirement(
            "AUTHN-9", "CreateRegistrationCode gives a code of its own, for as long as was asked for: 1800 s unless the app says.",
            source: "authentication.proto CreateRegistrationCode, CreateRegistrationCodeRequest.ttl_s"
        ) { examination in
            let app = try await TestApp(examination)
            let device = TestApp.device()
            let first = try await app.code(device)
            let request = CreateRegistrationCodeRequest(call: app.call(device), ttlSeconds: 60)
            let second = try await app.conversation.call(AuthenticationMethods.createRegistrationCode, request)
            guard !first.code.isEmpty, first.code != second.code, first.id != second.id else {
                throw Unmet("two codes", came: FrameText.text(second))
            }
            for (code, life) in [(first, 1_800_000), (second, 60_000)] {
                guard Int(code.expiresAtMilliseconds) - Int(code.generatedAtMilliseconds) == life else {
                    throw Unmet("a code for \(life) ms", came: FrameText.text(code))
                }
            }
            guard first.requestor == "ACME1", first.deviceID == device, !first.used, first.applicationID == "acme-tv" else {
                throw Unmet("requestor, device and application of the call, not used", came: FrameText.text(first))
            }
        },
        Requirement(
            "AUTHN-10",
            "CreateRegistrationCode refuses more than 36000 s (`invalid_request`) and an MVPD that is not integrated (`unknown_integration`).",
            source: "authentication.proto CreateRegistrationCode"
        ) { examination in
            let app = try await TestApp(examination)
            let method = AuthenticationMethods.createRegistrationCode
            let call = app.call(TestApp.device())
            try await app.conversation.refusal(of: method, CreateRegistrationCodeRequest(call: call, ttlSeconds: 36_001), codes: ["invalid_request"])
            for mvpd in ["ParkedTV", "Nowhere"] {
                try await app.conversation.refusal(of: method, CreateRegistrationCodeRequest(call: call, mvpd: mvpd), codes: ["unknown_integration"])
            }
        },
        Requirement(
            "AUTHN-11",
            "A device call is checked: bearer, requestor, device id, in this order; its information only where the requestor demands it.",
            source: "authentication.proto DeviceCall"
        ) { examination in
            let app = try await TestApp(examination)
            var call = DeviceCall()
            let steps: [(String, (inout DeviceCall) -> Void)] = [
                ("access_denied", { $0.accessToken = app.token }), ("invalid_requestor", { $0.requestor = "BRAVO" }),
                ("insufficient_scope", { $0.requestor = "ACME1" }), ("invalid_device_id", { $0.deviceID = TestApp.device() }),
            ]
            for (code, mend) in steps {
                try await app.conversation.refusal(
                    of: AuthenticationMethods.createRegistrationCode, CreateRegistrationCodeRequest(call: call), codes: [code])
                mend(&call)
            }
            try await app.conversation.call(AuthenticationMethods.createRegistrationCode, CreateRegistrationCodeRequest(call: call))
            let demand: (inout Configuration) -> Void = { configuration in
                for index in configuration.requestors.indices { configuration.requestors[index].requiresDeviceInformation = true }
            }
            let silent = SessionRequest(call: call)
            let isDemanded = { () async throws -> Bool in
                guard case .fault(let fault) = try await app.conversation.outcome(of: AuthenticationMethods.getSession, silent) else { return false }
                return fault.code == "invalid_device_info"
            }
            try await examination.peers().withCatalogue(demand, until: isDemanded) {
                try await app.conversation.refusal(
                    of: AuthenticationMethods.createRegistrationCode, CreateRegistrationCodeRequest(call: call), codes: ["invalid_device_info"])
                var told = call
                told.device = DeviceInformation(model: "Television", osName: "Linux")
                try await app.conversation.call(AuthenticationMethods.createRegistrationCode, CreateRegistrationCodeRequest(call: told))
            }
        },
        Requirement(
            "AUTHN-54",
            "A request that a pair of the application signed is answered as its bearer would be; whatever is wrong with it is `access_denied`.",
            source: "authentication.proto SignedRequest, config.proto RequestSigningKey"
        ) { examination in
            let app = try await TestApp(examination)
            let reference = TestApp.device()
            let pair = (key: "Pair" + reference.filter(\.isNumber), secret: "a secret of the requirement")
            let put = PutSecretRequest(reference: reference, secret: pair.secret)
            try await app.conversation.call(AuthenticationOperationsMethods.putSecret, put)
            func signed(secret: String) -> SignedRequest {
                let time = SystemClock().now().milliseconds
                let text = "GET requestor_id=ACME1, nonce=n, signature_method=HMAC-SHA1, request_time=\(time), request_uri=/authorize"
                let code = Base64.standard.encode(HMACSHA1.authenticate(Array(text.utf8), key: Array(secret.utf8)))
                return SignedRequest(header: "\(text), public_key=\(pair.key), signature=\(code)", method: "GET", target: "/api/v1/authorize")
            }
            let method = AuthenticationMethods.verifyAccessToken
            let request = VerifyAccessTokenRequest(requestor: "ACME1", signedRequest: signed(secret: pair.secret))
            let add: (inout Configuration) -> Void = { configuration in
                for index in configuration.applications.indices where configuration.applications[index].id == "acme-tv" {
                    configuration.applications[index].signingKeys.append(
                        RequestSigningKey(publicKey: pair.key, secretReference: reference, requestorIDs: ["ACME1"]))
                }
            }
            let isThere = { () async throws -> Bool in
                guard case .fault = try await app.conversation.outcome(of: method, request) else { return true }
                return false
            }
            try await examination.peers().withCatalogue(add, until: isThere) {
                let client = try await app.conversation.call(method, request)
                guard client.applicationID == "acme-tv", client.isShared, client.requestorIDs == ["ACME1"] else {
                    throw Unmet("a client of acme-tv that is shared, for ACME1", came: FrameText.text(client))
                }
                for wrong in [signed(secret: "another"), SignedRequest(header: "GET nonsense")] {
                    try await app.conversation.refusal(of: method, VerifyAccessTokenRequest(signedRequest: wrong), codes: ["access_denied"])
                }
                let elsewhere = VerifyAccessTokenRequest(requestor: "BRAVO", signedRequest: signed(secret: pair.secret))
                try await app.conversation.refusal(of: method, elsewhere, codes: ["insufficient_scope"])
            }
        },
        Requirement(
            "AUTHN-12", "GetRegistrationCode shows a code on every connection; its device only to a caller with a bearer that covers the requestor.",
            source: "authentication.proto RegistrationCode.device_id, .device"
        ) { examination in
            let app = try await TestApp(examination)
            let code = try await app.code(TestApp.device())
            let other = try await examination.greet()
            let method = AuthenticationMethods.getRegistrationCode
            let known = try await other.call(method, RegistrationCodeRequest(accessToken: app.token, requestor: "ACME1", code: code.code))
            guard known.id == code.id, known.deviceID == code.deviceID, known.device != nil else {
                throw Unmet(FrameText.text(code), came: FrameText.text(known))
            }
            for requestor in ["ACME1", ""] {
                let shown = try await other.call(method, RegistrationCodeRequest(requestor: requestor, code: code.code))
                guard shown.id == code.id, shown.deviceID.isEmpty, shown.device == nil else {
                    throw Unmet("the code without its device", came: FrameText.text(shown))
                }
            }
        },
        Requirement(
            "AUTHN-13", "A code that is not known, or another requestor's, is `invalid_registration_code`; one that was deleted too.",
            source: "authentication.proto GetRegistrationCode, DeleteRegistrationCode"
        ) { examination in
            let app = try await TestApp(examination)
            let code = try await app.code(TestApp.device()).code
            let get = AuthenticationMethods.getRegistrationCode
            let invalid: Set = ["invalid_registration_code"]
            try await app.conversation.refusal(of: get, RegistrationCodeRequest(requestor: "ACME1", code: "NOTHING"), codes: invalid)
            try await app.conversation.refusal(of: get, RegistrationCodeRequest(requestor: "ACME2", code: code), codes: invalid)
            let own = RegistrationCodeRequest(accessToken: app.token, requestor: "ACME1", code: code)
            try await app.conversation.call(AuthenticationMethods.deleteRegistrationCode, own)
            let over = invalid.union(["registration_code_spent"])
            try await app.conversation.refusal(of: get, own, codes: over)
            try await app.conversation.refusal(of: AuthenticationMethods.deleteRegistrationCode, own, codes: over)
        },
        Requirement(
            "AUTHN-14", "Many codes are made at the same time, each once.", source: "authentication.proto CreateRegistrationCode"
        ) { examination in
            let app = try await TestApp(examination)
            let ids = (0..<40).map { _ in app.conversation.nextCallID() }
            let method = AuthenticationMethods.createRegistrationCode
            try await app.conversation.probe.send(
                try ids.map { id in
                    let request = CreateRegistrationCodeRequest(call: app.call(TestApp.device()))
                    return Conversation.frame(
                        id, method.service, method.name, try request.serialized(), .seconds(20), "conformance-\(id)-\(TestApp.device())")
                })
            var codes: Set<String> = []
            try await WireRequirements.collect(Set(ids), app.conversation) { _, response in
                guard case .payload(let bytes) = response.outcome, let code = try? RegistrationCode(serialized: bytes) else {
                    throw Unmet("a registration code", came: "\(response)")
                }
                codes.insert(code.code)
            }
            guard codes.count == ids.count else { throw Unmet("\(ids.count) codes", came: "\(codes.count) different ones") }
        },
    ]
}
