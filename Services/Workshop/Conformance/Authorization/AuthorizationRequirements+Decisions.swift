internal import Clocks
internal import Contracts
internal import Faults

extension AuthorizationRequirements {
    static let decisions = [
        Requirement(
            "AUTHZ-1", "Authorize permits a resource at an MVPD that has no decision point, for a time to come.",
            source: "authorization.proto Authorize, Decision"
        ) {
            examination in
            let viewer = try await TestViewer(examination)
            let decision = try await viewer.authorize("ACME1-NEWS")
            guard decision.requestor == "ACME1", decision.mvpd == "NorthCable", decision.resource == "ACME1-NEWS",
                decision.expiresAtMilliseconds > UInt64(clamping: SystemClock().now().milliseconds)
            else { throw Unmet("a permit for ACME1-NEWS that lasts", came: FrameText.text(decision)) }
        },
        Requirement(
            "AUTHZ-2", "Each call asks authentication for the session: one that ended is missing at once.",
            source: "authorization.proto Authorization"
        ) { examination in
            let viewer = try await TestViewer(examination)
            let authentication = viewer.peers.doubles.authentication
            let before = authentication.sessionQuestions
            try await viewer.authorize("ACME1-NEWS")
            try await viewer.authorize("ACME1-NEWS")
            guard authentication.sessionQuestions >= before + 2 else {
                throw Unmet("a question to FindSession for each call", came: "\(authentication.sessionQuestions - before) for two calls")
            }
            viewer.signOut()
            let missing: Set = ["authentication_session_missing"]
            try await viewer.conversation.refusal(
                of: AuthorizationMethods.authorize, AuthorizeRequest(call: viewer.call, resource: "ACME1-NEWS"), codes: missing)
            try await viewer.conversation.refusal(of: AuthorizationMethods.getAuthorization, viewer.resource("ACME1-NEWS"), codes: missing)
            try await viewer.conversation.refusal(of: AuthorizationMethods.issueMediaToken, viewer.resource("ACME1-NEWS"), codes: missing)
        },
        Requirement("AUTHZ-3", "Faults of authentication are passed on.", source: "authorization.proto Authorization") { examination in
            let viewer = try await TestViewer(examination)
            let request = AuthorizeRequest(call: viewer.call, resource: "ACME1-NEWS")
            for code in ["authentication_session_expired", "access_denied", "invalid_client", "insufficient_scope", "invalid_device_info"] {
                viewer.fail(code)
                try await viewer.conversation.refusal(of: AuthorizationMethods.authorize, request, codes: [code])
            }
        },
        Requirement(
            "AUTHZ-4", "While authentication cannot answer, calls are `unavailable` and may be made again; they are no denials.",
            source: "authorization.proto Authorization, WIRE.md §7"
        ) { examination in
            let viewer = try await TestViewer(examination)
            try await viewer.authorize("ACME1-NEWS")
            viewer.fail("unavailable")
            let request = AuthorizeRequest(call: viewer.call, resource: "ACME1-NEWS")
            let fault = try await viewer.conversation.refusal(of: AuthorizationMethods.authorize, request, codes: ["unavailable"])
            guard fault.retryable else { throw Unmet("a retryable fault", came: "\(fault)") }
        },
        Requirement("AUTHZ-5", "A resource is required.", source: "authorization.proto Authorize, GetAuthorization, IssueMediaToken") { examination in
            let viewer = try await TestViewer(examination)
            let missing: Set = ["missing_resource"]
            try await viewer.conversation.refusal(of: AuthorizationMethods.authorize, AuthorizeRequest(call: viewer.call), codes: missing)
            try await viewer.conversation.refusal(of: AuthorizationMethods.getAuthorization, viewer.resource(""), codes: missing)
            try await viewer.conversation.refusal(of: AuthorizationMethods.issueMediaToken, viewer.resource(""), codes: missing)
        },
        Requirement("AUTHZ-6", "A malformed resource is `malformed_authz_request`.", source: "authorization.proto Authorize") { examination in
            let viewer = try await TestViewer(examination)
            for resource in ["<rss><channel>", "A\u{1}B"] {
                let request = AuthorizeRequest(call: viewer.call, resource: resource)
                try await viewer.conversation.refusal(of: AuthorizationMethods.authorize, request, codes: ["malformed_authz_request"])
            }
        },
        Requirement(
            "AUTHZ-7", "An MVPD that is not the session's is `authentication_session_issuer_mismatch`.",
            source: "authorization.proto AuthorizeRequest.mvpd"
        ) {
            examination in
            let viewer = try await TestViewer(examination)
            let request = AuthorizeRequest(call: viewer.call, resource: "ACME1-NEWS", mvpd: "LakeTel")
            try await viewer.conversation.refusal(of: AuthorizationMethods.authorize, request, codes: ["authentication_session_issuer_mismatch"])
            try await viewer.conversation.call(
                AuthorizationMethods.authorize, AuthorizeRequest(call: viewer.call, resource: "ACME1-NEWS", mvpd: "NorthCable"))
        },
        Requirement("AUTHZ-8", "A session at an MVPD that is switched off is `unknown_integration`.", source: "authorization.proto Authorize") {
            examination in
            let viewer = try await TestViewer(examination, mvpd: "ParkedTV")
            let request = AuthorizeRequest(call: viewer.call, resource: "ACME1-NEWS")
            try await viewer.conversation.refusal(of: AuthorizationMethods.authorize, request, codes: ["unknown_integration"])
        },
        Requirement(
            "AUTHZ-9", "GetAuthorization tells the permit that Authorize made, on every connection; without one `authorization_not_found`.",
            source: "authorization.proto GetAuthorization"
        ) { examination in
            let viewer = try await TestViewer(examination)
            let method = AuthorizationMethods.getAuthorization
            try await viewer.conversation.refusal(of: method, viewer.resource("ACME1-NEWS"), codes: ["authorization_not_found"])
            let decision = try await viewer.authorize("ACME1-NEWS")
            let seen = try await examination.greet().call(method, viewer.resource("ACME1-NEWS"))
            guard seen == decision else { throw Unmet(FrameText.text(decision), came: FrameText.text(seen)) }
            try await viewer.conversation.refusal(of: method, viewer.resource("ACME1-SPORT"), codes: ["authorization_not_found"])
            let other = try await TestViewer(examination)
            try await other.conversation.refusal(of: method, other.resource("ACME1-NEWS"), codes: ["authorization_not_found"])
        },
        Requirement("AUTHZ-10", "A permit is given again, with its end, until it ends.", source: "authorization.proto Authorize") { examination in
            let viewer = try await TestViewer(examination)
            let first = try await viewer.authorize("ACME1-SPORT")
            let second = try await viewer.authorize("ACME1-SPORT")
            guard first == second else { throw Unmet(FrameText.text(first), came: FrameText.text(second)) }
        },
        Requirement(
            "AUTHZ-11", "While an AuthZ-none rule holds it denies, with its message, and permits are hidden; afterwards they are there again.",
            source: "config.proto DegradationKind"
        ) { examination in
            let viewer = try await TestViewer(examination)
            try await viewer.authorize("ACME1-NEWS")
            let rule = DegradationRule(
                id: "conformance-11", kind: .authzNone, requestorID: "ACME1", mvpdID: "NorthCable", startsAtMilliseconds: 1,
                endsAtMilliseconds: 32_503_680_000_000, message: "Maintenance.")
            let request = AuthorizeRequest(call: viewer.call, resource: "ACME1-NEWS")
            let isDenied = { () async throws -> Bool in
                guard case .fault = try await viewer.conversation.outcome(of: AuthorizationMethods.authorize, request) else { return false }
                return true
            }
            try await viewer.peers.withCatalogue({ $0.degradationRules.append(rule) }, until: isDenied) {
                let fault = try await viewer.conversation.refusal(
                    of: AuthorizationMethods.authorize, request, codes: ["authorization_denied_by_degradation_rule"])
                guard fault.details == "Maintenance." else { throw Unmet("details 'Maintenance.'", came: "'\(fault.details)'") }
                try await viewer.conversation.refusal(
                    of: AuthorizationMethods.getAuthorization, viewer.resource("ACME1-NEWS"), codes: ["authorization_not_found"])
            }
            try await viewer.conversation.call(AuthorizationMethods.getAuthorization, viewer.resource("ACME1-NEWS"))
        },
    ]
}
