internal import Contracts
internal import GatewayEdge
internal import TextEncodings

/// A session of REST v2: what has to be done next (rest-v2 §2.2, §2.3).
struct SignInPlanDocument {
    let plan: SignInPlan
    let serviceProvider: String
    /// True: the answer to a call that has added to a session.
    let isResumed: Bool

    var document: Document {
        var members: [Document.Member] = [
            .init("actionName", .text(actionName)), .init("actionType", .text(plan.step == .authenticate ? "interactive" : "direct")),
            .init("reasonType", .text(reasonType)),
        ]
        if !missing.isEmpty { members.append(.init("missingParameters", .list(missing.map { .text($0) }, item: "parameter"))) }
        members.append(.init("url", .text(url)))
        if plan.step == .partner { members.append(.init("authenticationRequest", .object(request))) }
        if let code = plan.code { members.append(.init("code", .text(code.code))) }
        members += [.init("sessionId", .text(plan.id)), .init("serviceProvider", .text(serviceProvider))]
        if !plan.mvpd.isEmpty { members.append(.init("mvpd", .text(plan.mvpd))) }
        return Document("session", members + (plan.code.map(Self.times) ?? []))
    }

    /// In sessions times are texts (rest-v2 D2).
    static func times(_ code: RegistrationCode) -> [Document.Member] {
        [
            .init("notBefore", .text(String(code.generatedAtMilliseconds))), .init("notAfter", .text(String(code.expiresAtMilliseconds))),
        ]
    }

    private var actionName: String {
        switch plan.step {
        case .authenticate: "authenticate"
        case .authorize: "authorize"
        case .partner: "partner_profile"
        case .complete, .unknown, .unrecognized: isResumed ? "retry" : "resume"
        }
    }

    private var reasonType: String {
        switch plan.reason {
        case .authenticated: "authenticated"
        case .shared: "authenticatedSSO"
        case .temporary: "temporary"
        case .degraded: "degraded"
        case .partnerStatus: "pfs_fallback"
        case .configuration: "configuration_fallback"
        case .missing: "missing_parameters_fallback"
        case .none, .unrecognized: "none"
        }
    }

    /// For the platform's framework.
    private var request: [Document.Member] {
        [
            .init("type", .text("saml")), .init("request", .text(plan.verificationToken)),
            .init("attributesNames", .list(plan.attributeNames.map { .text($0) }, item: "name")),
        ]
    }

    private var missing: [String] {
        [("mvpd", plan.lacksMvpd), ("domainName", plan.lacksDomainName), ("redirectUrl", plan.lacksRedirectURL)].filter(\.1).map(\.0)
    }

    private var url: String {
        let (provider, code) = (PercentEncoding.encode(serviceProvider), plan.code?.code ?? "")
        return switch plan.step {
        case .authenticate: "/api/v2/authenticate/\(provider)/\(code)"
        case .authorize: "/api/v2/\(provider)/decisions/authorize/\(PercentEncoding.encode(plan.mvpd))"
        case .partner: "/api/v2/\(provider)/profiles/sso/Apple"
        case .complete, .unknown, .unrecognized: "/api/v2/\(provider)/sessions/\(code)"
        }
    }
}
