internal import Contracts
internal import Faults
@testable internal import GatewayAdministration
@testable internal import GatewayEdge
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import NIOEmbedded

/// Everything that the faces of the API say when something goes wrong: what happened × who asked → status, headers and body. Alike answers share a line.
struct RefusalTable {
    let refusals: Refusals
    let overload: OverloadRefusals
    /// True: pages stand as a digest of all their octets, not as their heading.
    var digestsPages = false

    private static let codes = """
        access_denied account_locked apple_grant_invalid apple_key_unknown apple_nonce_mismatch apple_notification_invalid apple_request_invalid \
        apple_token_algorithm apple_token_audience apple_token_expired apple_token_issuer apple_token_malformed apple_token_replayed \
        apple_token_signature apple_token_subject apple_unavailable authentication_session_expired authentication_session_invalidated \
        authentication_session_issuer_mismatch authentication_session_missing authorization_denied_by_degradation_rule \
        authorization_denied_by_hba_policies authorization_denied_by_mvpd authorization_denied_by_parental_controls \
        authorization_denied_by_session_invalidated authorization_expired authorization_not_found cancelled client_unknown deadline_exceeded \
        environment_mismatch family_unknown frame_too_large idempotency_key_reused identity_not_recognized_by_mvpd insufficient_role \
        insufficient_scope internal invalid_client invalid_configuration_platform_services invalid_device_id invalid_device_info invalid_domain \
        invalid_header_pfs_permission_access_not_determined invalid_header_pfs_permission_access_not_granted \
        invalid_header_pfs_permission_access_not_present invalid_header_pfs_provider_id_mismatch invalid_header_pfs_provider_id_not_determined \
        invalid_header_pfs_provider_info_expired invalid_message invalid_mvpd invalid_parameter_code invalid_parameter_partner \
        invalid_parameter_saml_response invalid_redirect_uri invalid_redirect_url invalid_registration_code invalid_request invalid_requestor \
        invalid_software_statement invalid_temporary_access_configuration invalid_temporary_access_identity last_method link_conflict \
        malformed_authz_request maximum_execution_time_exceeded missing_resource network_connection_timeout network_received_error not_found \
        opt_in_required overloaded permission_denied preauthorization_denied_by_mvpd rate_limited registration_code_spent rotation_in_progress \
        service_token_expired service_token_invalid session_not_fresh session_unknown state_invalid step_up_required storage_full \
        subscription_required temporary_access_duration_limit_exceeded temporary_access_resources_limit_exceeded ticket_invalid token_invalid \
        token_replayed token_revoked too_many_families too_many_requests too_many_resources transfer_window_closed unapproved_software_statement \
        unauthorized_client unavailable unimplemented unknown_integration unsupported_grant_type upstream_unavailable
        """.split(whereSeparator: { $0 == " " || $0 == "\n" }).map { Fault.Code(rawValue: String($0)) } + [Fault.Code(rawValue: "not_of_this_build")]

    private static let endpoints: [(String, Endpoint)] = [
        ("config", .config), ("registrationCode", .registrationCode), ("authenticate", .authenticate), ("checkAuthn", .checkAuthn),
        ("checkAuthnByCode", .checkAuthnByCode), ("authnToken", .authnToken), ("authnTokenByCode", .authnTokenByCode), ("authorize", .authorize),
        ("authzToken", .authzToken), ("mediaToken", .mediaToken), ("preauthorize", .preauthorize), ("logout", .logout),
        ("freePreview", .freePreview), ("tempPassReset", .tempPassReset), ("degradation", .degradation), ("proxiedMvpds", .proxiedMvpds),
        ("userMetadata", .userMetadata), ("metadata", .metadata), ("platform", .platform), ("sdkDevices", .sdkDevices), ("sdkSession", .sdkSession),
        ("sdkDecision", .sdkDecision), ("sdkStored", .sdkStored),
    ]

    private static let others: [(String, Route.Audience)] = [
        ("apiV2", .apiV2), ("singleSignOn", .singleSignOn(isToken: false)), ("serviceToken", .singleSignOn(isToken: true)),
        ("clientRegistration", .clientRegistration), ("administration", .administration), ("console", .console), ("usage", .usage),
        ("autoSignIn", .autoSignIn), ("notification", .notification), ("browser", .browser),
    ]

    private static let paths = [
        "/", "/nowhere", "/admin/x", "/console", "/console/x", "/esm/x", "/esm/v3/x.csv", "/api/v2/x", "/auto-signin/x", "/apple/x", "/api/v1/x.json",
        "/api/v1/x", "/reggie/x", "/o/x", "/adobe-services/x", "/reset-tempass/x", "/control/x", "/indiv/x", "/devices/x", "/activate/x",
    ]

    /// One line for all that gets the same answer: `who: what | answer`.
    func lines() async throws -> [String] {
        var answers: [String: [(who: String, what: String)]] = [:]
        func note(_ who: String, _ what: String, _ answer: String) { answers[answer, default: []].append((who, what)) }
        for (name, endpoint) in Self.endpoints {
            for (form, query, accept) in [
                ("json", "requestor=ACME1", "application/json"), ("xml", "requestor=ACME1&resource=r", "application/xml"),
                ("enhanced", "requestor=BRAVO", "application/json"), ("enhanced xml", "requestor=BRAVO&resource=", "application/xml"),
            ] {
                for (what, answer) in try await faults(.api(endpoint), query: query, accept: accept) { note("\(form) \(name)", what, answer) }
            }
        }
        for (name, audience) in Self.others {
            for (what, answer) in try await faults(audience, query: "", accept: "") { note(name, what, answer) }
        }
        for path in Self.paths {
            let (request, context) = Self.request(path, query: "", accept: path.hasSuffix("x.json") ? "application/xml" : "application/json")
            note("address \(path)", "not found", try await text(refusals.notFound(request, facts: context.facts)))
            note("address \(path)", "not implemented", try await text(refusals.notImplemented(request, facts: context.facts)))
            for (what, refusal) in [("foreign host", AdministrationNames.Refusal.foreignHost), ("foreign origin", .foreignOrigin)] {
                note("address \(path)", what, try await text(refusals.stranger(refusal, at: context.facts.path, trace: context.facts.trace.traceID)))
            }
            var head = request.head
            head.headerFields[.origin] = "https://www.acme.example"
            if let reply = overload.reply(to: head, sparesUrgent: false) {
                note("address \(path)", "overloaded", text(reply.status, reply.fields, reply.body))
            }
            if overload.reply(to: head, sparesUrgent: true) == nil { note("address \(path)", "overloaded", "served, as it is urgent") }
        }
        note("address", "unserved", try await text(refusals.unserved()))
        note("address", "too many requests", try await text(Response.tooManyRequests(retryAfter: 7)))
        return answers.map { answer, cases in Self.line(answer, cases) }.sorted()
    }

    private static func line(_ answer: String, _ cases: [(who: String, what: String)]) -> String {
        var whats: [String: [String]] = [:]
        for (who, what) in cases { whats[what, default: []].append(who) }
        var whos: [String: [String]] = [:]
        for (what, who) in whats { whos[shortened(who), default: []].append(what) }
        let parts = whos.map { who, what in "\(who): \(what.sorted().joined(separator: " "))" }.sorted()
        return parts.joined(separator: "; ") + " | " + answer
    }

    /// All endpoints, or all addresses, in one word.
    private static func shortened(_ who: [String]) -> String {
        var rest = who
        for (prefix, names) in ["json", "xml", "enhanced", "enhanced xml"].map({ ($0, endpoints.map(\.0)) }) + [("address", paths)] {
            let all = Set(names.map { "\(prefix) \($0)" })
            guard all.isSubset(of: rest) else { continue }
            rest = rest.filter { !all.contains($0) } + ["\(prefix) all"]
        }
        return rest.joined(separator: ", ")
    }

    private func faults(_ audience: Route.Audience, query: String, accept: String) async throws -> [(String, String)] {
        let exchange = Self.exchange(audience, query: query, accept: accept)
        var found: [(String, String)] = []
        func note(_ what: String, _ response: Response) async throws { found.append((what, try await text(response))) }
        for code in Self.codes {
            var answer = try await text(refusals.reply(to: Fault(code, "Words of the service."), exchange))
            answer = answer.replacing("\"\(code.rawValue)\"", with: "\"{code}\"").replacing(">\(code.rawValue)<", with: ">{code}<")
                .replacing("#\(code.rawValue)", with: "#{code}")
            found.append((code.rawValue, answer))
        }
        let late = Fault(.unavailable, "Words.", details: "Details.", retryAfter: .milliseconds(2500))
        let denied = Fault(.authorizationDeniedByMvpd, "Words.", details: "Details.")
        let many = Fault(.tooManyRequests, "Words.", retryAfter: .milliseconds(2500))
        for (what, fault) in [("+late", late), ("+denied", denied), ("+many", many)] { try await note(what, refusals.reply(to: fault, exchange)) }
        for code in [Fault.Code.accessDenied, .invalidClient, .insufficientScope, .invalidRequest] {
            try await note("+bearer:\(code.rawValue)", refusals.reply(to: BearerRejection(fault: Fault(code, "Words.")), exchange))
            try await note("+basic:\(code.rawValue)", refusals.reply(to: BasicRejection(fault: Fault(code, "Words \"of\" ü.")), exchange))
        }
        try await note("+invalid", refusals.reply(to: AdministrationError.invalid([FieldProblem(field: "name", message: "is empty")]), exchange))
        try await note("+absent", refusals.reply(to: AdministrationError.notFound("There is no such entry."), exchange))
        try await note("+unexpected", refusals.reply(to: CancellationError(), exchange))
        for problem in [BodyRejection.tooLarge, .tooSlow, .broken] { try await note("+body:\(problem)", refusals.badBody(problem, exchange)) }
        try await note("+body:fault", refusals.badBody(late, exchange))
        try await note("+method", refusals.methodNotAllowed(exchange, allow: "GET, OPTIONS"))
        return found
    }

    private func text(_ response: Response) async throws -> String {
        text(response.status, response.headers, try await CollectedBody.bytes(of: response))
    }

    private func text(_ status: HTTPResponse.Status, _ headers: HTTPFields, _ body: ByteBuffer) -> String {
        var content = String(buffer: body)
        let isPage = headers[.contentType]?.hasPrefix("text/html") == true && content.contains("<html")
        let fields = headers.map { field in
            let value =
                isPage && !digestsPages && ["content-security-policy", "content-length"].contains(field.name.canonicalName) ? "…" : field.value
            return "\(field.name.canonicalName): \(value)"
        }
        if isPage { content = page(content) }
        return "\(status.code) | \(fields.joined(separator: "; ")) | \(content.replacing("\n", with: "\\n"))"
    }

    private func page(_ content: String) -> String {
        if digestsPages {
            return String(content.utf8.reduce(into: UInt64(0xcbf2_9ce4_8422_2325)) { $0 = ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }, radix: 16)
        }
        let heading = content.split(separator: "<h1>").dropFirst().first?.split(separator: "</h1>").first ?? "no heading"
        return "a page: \(heading)" + (content.contains(Self.trace) ? ", with the trace" : "")
    }

    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"

    private static func request(_ path: String, query: String, accept: String) -> (Request, GatewayContext) {
        let target = query.isEmpty ? path : path + "?" + query
        var head = HTTPRequest(method: .get, scheme: "http", authority: "tv.example", path: target)
        if let name = HTTPField.Name("traceparent") { head.headerFields[name] = "00-\(trace)-00f067aa0ba902b7-01" }
        if !accept.isEmpty { head.headerFields[.accept] = accept }
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
        var context = GatewayContext(
            source: ApplicationRequestContextSource(channel: EmbeddedChannel(), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
        context.facts = RequestFacts(request, peer: nil, trusted: [], isSecure: false, host: ServedHost(origin: "https://tv.example"))
        return (request, context)
    }

    private static func exchange(_ audience: Route.Audience, query: String, accept: String) -> Exchange {
        let (request, context) = request("/somewhere", query: query, accept: accept)
        let route = Route("/somewhere", audience, [:])
        return Exchange(request, context: context, match: RouteTree.Match(route: route, captures: []), body: ByteBuffer(), timeout: .seconds(10))
    }
}
