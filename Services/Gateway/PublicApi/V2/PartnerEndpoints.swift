internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// `/api/v2/{serviceProvider}/sessions/sso/{partner}` and `…/profiles/sso/{partner}`: sign-in by the platform's login (rest-v2 §2.12, §2.13).
struct PartnerEndpoints: Sendable {
    let dependencies: Dependencies
    let reader: AppCallReader

    @Sendable func begin(_ exchange: Exchange) async throws -> Response {
        let (call, form) = try await reader.device(exchange) { exchange throws(Fault) in
            try Self.requirePartner(exchange)
            return try SessionEndpointsV2.Form(exchange)
        }
        let plan = try await dependencies.liveCodes.plan(for: exchange.facts.clientAddress) {
            try await dependencies.authentication.beginPartnerSignIn(
                BeginSignInRequest(call: call, domainName: form.domainName, redirectURL: form.redirectURL),
                context: exchange.changingCall)
        }
        return Response(SignInPlanDocument(plan: plan, serviceProvider: call.requestor, isResumed: false).document, format: .json)
    }

    @Sendable func exchange(_ exchange: Exchange) async throws -> Response {
        let (call, response) = try await reader.device(exchange) { exchange throws(Fault) in
            try Self.requirePartner(exchange)
            return try exchange.value("SAMLResponse") ?? ""
        }
        let profiles = try await dependencies.authentication.exchangePartnerProfile(
            ExchangePartnerProfileRequest(call: call, samlResponse: response), context: exchange.changingCall)
        let document = ProfileDocument(facts: exchange.facts).document(profiles)
        let isMade = profiles.profiles.contains { $0.session?.kind == .platform }
        return Response(document, format: .json, status: isMade ? .created : .ok)
    }

    /// The only one that there is, in whatever case (rest-v2 D12).
    private static func requirePartner(_ exchange: Exchange) throws(Fault) {
        guard (try? exchange.captured("partner"))?.lowercased() == "apple" else {
            throw Fault(.invalidParameterPartner, "The partner is missing or not known.")
        }
    }
}
