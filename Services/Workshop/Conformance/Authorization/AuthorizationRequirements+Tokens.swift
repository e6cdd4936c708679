internal import Contracts
internal import Cryptography
internal import MediaTokenVerifier

extension AuthorizationRequirements {
    static let mediaTokens = [
        Requirement(
            "AUTHZ-12", "IssueMediaToken needs a permit: without one `authorization_not_found`.", source: "authorization.proto IssueMediaToken"
        ) {
            examination in
            let viewer = try await TestViewer(examination)
            try await viewer.conversation.refusal(
                of: AuthorizationMethods.issueMediaToken, viewer.resource("ACME1-NEWS"), codes: ["authorization_not_found"])
        },
        Requirement(
            "AUTHZ-13", "A media token says requestor, resource, MVPD and user, lasts as the requestor's does, and GetMediaTokenKeys verifies it.",
            source: "authorization.proto MediaToken, MediaTokenKeys, config.proto Requestor.media_token_ttl_s"
        ) { examination in
            let viewer = try await TestViewer(examination)
            let token = try await verified(viewer, "ACME1-NEWS")
            guard token.requestor == "ACME1", token.resource == "ACME1-NEWS", token.mvpd == "NorthCable", token.userID == viewer.session.userID else {
                throw Unmet("ACME1, ACME1-NEWS, NorthCable and the session's user_id", came: FrameText.text(token))
            }
        },
        Requirement("AUTHZ-14", "No two media tokens are the same.", source: "authorization.proto IssueMediaToken") { examination in
            let viewer = try await TestViewer(examination)
            try await viewer.authorize("ACME1-NEWS")
            var tokens: Set<String> = []
            for _ in 0..<5 {
                tokens.insert(
                    try await viewer.conversation.call(AuthorizationMethods.issueMediaToken, viewer.resource("ACME1-NEWS")).serializedToken)
            }
            guard tokens.count == 5 else { throw Unmet("5 tokens", came: "\(tokens.count) different ones") }
        },
        Requirement(
            "AUTHZ-15", "A requestor that wants JWS gets a compact JWS of the same facts.",
            source: "config.proto Requestor.media_token_format, MediaToken.serialized_token"
        ) { examination in
            let viewer = try await TestViewer(examination)
            try await viewer.authorize("ACME1-NEWS")
            let isJws = { () async throws -> Bool in
                let token = try await viewer.conversation.call(AuthorizationMethods.issueMediaToken, viewer.resource("ACME1-NEWS"))
                return token.serializedToken.split(separator: ".", omittingEmptySubsequences: false).count == 3
            }
            let change: (inout Configuration) -> Void = { configuration in
                for index in configuration.requestors.indices where configuration.requestors[index].id == "ACME1" {
                    configuration.requestors[index].mediaTokenFormat = .jws
                }
            }
            try await viewer.peers.withCatalogue(change, until: isJws) { _ = try await verified(viewer, "ACME1-NEWS") }
        },
        Requirement(
            "AUTHZ-42",
            "Of sessions that nobody has ExportPerson tells no row and ErasePerson removes none. A service that looks for nobody answers `unimplemented`.",
            source: "authorization.proto ExportPerson, ErasePerson"
        ) { examination in
            let conversation = try await examination.greet()
            let sessions = PersonSessions(sessionIDs: ["conformance-nobody"])
            switch try await conversation.outcome(of: AuthorizationMethods.exportPerson, sessions) {
            case .fault(let fault) where fault.code == "unimplemented": return
            case .fault(let fault): throw Unmet("no row", came: FrameText.text(fault))
            case .answer(let told): guard told.tables.isEmpty else { throw Unmet("no row", came: FrameText.text(told)) }
            }
            let erased = try await conversation.call(AuthorizationMethods.erasePerson, sessions)
            guard erased.tables.isEmpty else { throw Unmet("no row", came: FrameText.text(erased)) }
        },
        Requirement(
            "AUTHZ-16", "GetMediaTokenKeys gives certificates in PEM and a JSON Web Key Set of public keys.",
            source: "authorization.proto MediaTokenKeys"
        ) {
            examination in
            let keys = try await examination.greet().call(AuthorizationMethods.getMediaTokenKeys, GetMediaTokenKeysRequest())
            _ = try trusted(keys)
            for member in ["\"d\"", "\"p\"", "\"q\""] where keys.jwks.contains(member) {
                throw Unmet("public keys only", came: "a key with the member \(member)")
            }
            guard keys.certificates.contains("BEGIN CERTIFICATE"), !keys.certificates.contains("PRIVATE") else {
                throw Unmet("certificates in PEM", came: keys.certificates)
            }
        },
    ]

    static let lists = [
        Requirement(
            "AUTHZ-17", "Preauthorize answers for each resource once, in the order of the request, and makes no permits.",
            source: "authorization.proto Preauthorize, Preauthorization.resources"
        ) { examination in
            let viewer = try await TestViewer(examination)
            let list = ResourceList(text: "ACME1-SPORT, ACME1-NEWS,ACME1-SPORT")
            let answer = try await viewer.conversation.call(
                AuthorizationMethods.preauthorize, PreauthorizeRequest(call: viewer.call, resources: list))
            guard answer.resources.map(\.id) == ["ACME1-SPORT", "ACME1-NEWS"], answer.resources.allSatisfy(\.authorized) else {
                throw Unmet("ACME1-SPORT and ACME1-NEWS, authorized", came: FrameText.text(answer))
            }
            try await viewer.conversation.refusal(
                of: AuthorizationMethods.getAuthorization, viewer.resource("ACME1-SPORT"), codes: ["authorization_not_found"])
        },
        Requirement(
            "AUTHZ-18", "Preauthorize refuses no resources (`missing_resource`) and more than the MVPD takes (`too_many_resources`).",
            source: "authorization.proto Preauthorize, config.proto AuthorizationEndpoint.preflight_max_resources"
        ) { examination in
            let viewer = try await TestViewer(examination)
            let method = AuthorizationMethods.preauthorize
            for list in [nil, ResourceList(text: " , ")] {
                try await viewer.conversation.refusal(
                    of: method, PreauthorizeRequest(call: viewer.call, resources: list), codes: ["missing_resource"])
            }
            let many = ResourceList(text: (0..<400).map { "CHANNEL-\($0)" }.joined(separator: ","))
            try await viewer.conversation.refusal(of: method, PreauthorizeRequest(call: viewer.call, resources: many), codes: ["too_many_resources"])
        },
        Requirement("AUTHZ-19", "Preauthorize needs a session.", source: "authorization.proto Preauthorize, PreauthorizeByCode") { examination in
            let viewer = try await TestViewer(examination, mvpd: "")
            let missing: Set = ["authentication_session_missing"]
            let list = ResourceList(text: "ACME1-NEWS")
            try await viewer.conversation.refusal(
                of: AuthorizationMethods.preauthorize, PreauthorizeRequest(call: viewer.call, resources: list), codes: missing)
            try await viewer.conversation.refusal(
                of: AuthorizationMethods.preauthorizeByCode, PreauthorizeByCodeRequest(requestor: "ACME1", code: "NOTHING", resources: list),
                codes: missing.union(["invalid_registration_code"]))
        },
        Requirement(
            "AUTHZ-20",
            "A call with a stored token gets one for its permit, which IssueMediaToken takes in place of a resource, until the session ends; another's is refused.",
            source: "authorization.proto AuthorizeRequest.wants_token, ResourceRequest.authorization_token"
        ) { examination in
            let viewer = try await TestViewer(examination)
            let stored = viewer.peers.doubles.authentication.storedToken(device: viewer.device, requestor: viewer.requestor)
            var call = viewer.call
            call.deviceID = ""
            call.storedToken = StoredToken(text: stored)
            let decision = try await viewer.conversation.call(
                AuthorizationMethods.authorize, AuthorizeRequest(call: call, resource: "ACME1-NEWS", wantsToken: true))
            guard !decision.token.isEmpty else { throw Unmet("a token of the permit", came: "none") }
            let plain = try await viewer.conversation.call(AuthorizationMethods.authorize, AuthorizeRequest(call: call, resource: "ACME1-NEWS"))
            guard plain.token.isEmpty else { throw Unmet("no token where none is wanted", came: plain.token) }
            call.storedToken = nil
            var request = ResourceRequest(call: call, authorizationToken: decision.token)
            let media = try await viewer.conversation.call(AuthorizationMethods.issueMediaToken, request)
            guard media.resource == "ACME1-NEWS", media.requestor == viewer.requestor, media.mvpd == "NorthCable" else {
                throw Unmet("a media token for ACME1-NEWS of NorthCable", came: FrameText.text(media))
            }
            let missing: Set = ["authentication_session_missing"]
            for (requestor, mvpd, device) in [("ACME2", "", ""), ("ACME1", "SouthTel", ""), ("ACME1", "", "another")] {
                var wrong = request
                wrong.call?.requestor = requestor
                wrong.call?.deviceID = device
                wrong.call?.storedToken = StoredToken(mvpd: mvpd)
                try await viewer.conversation.refusal(of: AuthorizationMethods.issueMediaToken, wrong, codes: missing)
            }
            viewer.signOut()
            try await viewer.conversation.refusal(of: AuthorizationMethods.issueMediaToken, request, codes: missing)
            request.authorizationToken = "not a token"
            try await viewer.conversation.refusal(of: AuthorizationMethods.issueMediaToken, request, codes: missing)
        },
    ]

    /// Authorizes, issues, and verifies.
    private static func verified(_ viewer: TestViewer, _ resource: String) async throws -> Contracts.MediaToken {
        try await viewer.authorize(resource)
        let token = try await viewer.conversation.call(AuthorizationMethods.issueMediaToken, viewer.resource(resource))
        try await verify(token, viewer, resource)
        return token
    }

    /// - Throws: `Unmet` unless the published keys verify the token, for the resource, and it says what the answer says.
    static func verify(_ token: Contracts.MediaToken, _ viewer: TestViewer, _ resource: String) async throws {
        let keys = try await viewer.conversation.call(AuthorizationMethods.getMediaTokenKeys, GetMediaTokenKeysRequest())
        let check = MediaTokenVerifier(trustedKeys: try trusted(keys)).verify(token.serializedToken, requestor: viewer.requestor, resource: resource)
        guard check.verdict == .valid, let facts = check.facts else {
            throw Unmet("a token that the published keys verify", came: "\(check.verdict.rawValue): \(token.serializedToken)")
        }
        guard UInt64(clamping: facts.expiresAt.milliseconds) == token.expiresAtMilliseconds, facts.sessionGUID == token.userID,
            facts.mvpd == token.mvpd
        else { throw Unmet("the facts that the answer says", came: "\(facts)") }
        let requestor = viewer.peers.configuration.requestors.first { $0.id == viewer.requestor }
        let seconds = requestor?.mediaTokenTtlSeconds ?? 0
        guard facts.ttl == .seconds(Int64(seconds == 0 ? 420 : seconds)) else {
            throw Unmet("a token for \(seconds == 0 ? 420 : seconds) s", came: "\(facts.ttl)")
        }
    }

    private static func trusted(_ keys: MediaTokenKeys) throws -> TrustedMediaTokenKeys {
        var trusted: TrustedMediaTokenKeys
        do {
            trusted = try TrustedMediaTokenKeys(certificates: try Certificate.all(pem: keys.certificates))
            try trusted.add(jwks: keys.jwks)
        } catch {
            throw Unmet("certificates in PEM and a JSON Web Key Set", came: "\(error)")
        }
        return trusted
    }
}
