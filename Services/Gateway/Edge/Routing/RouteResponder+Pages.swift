internal import Catalogue
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Hummingbird

/// Which pages may read an answer (rest-v1 §2.1). A page proves nothing by where it comes from: a foreign one is served as any caller, and its browser keeps the
/// answer from it.
extension RouteResponder {
    /// What a preflight may tell, which has neither credentials nor a body: a requestor that the address names decides; where it names none, any requestor's page
    /// may ask.
    func preflightAccess(_ exchange: Exchange) -> CrossOrigin {
        guard exchange.audience.isReadableByPages || exchange.audience.isOpenToEverybody else { return .nobody }
        if exchange.audience.isOpenToEverybody { return .everybody }
        guard let origin = exchange.headers.value(.origin), let catalogue = try? dependencies.catalogue.current() else { return .nobody }
        if exchange.audience.isNamedARequestor, let id = exchange.namedRequestor, let requestor = catalogue.requestor(id) {
            return CrossOrigin(origin: origin, domains: requestor.domains)
        }
        return CrossOrigin(origin: origin, registeredIn: catalogue)
    }

    /// What was done for a requestor only its pages may read, whatever parameters say; a refusal, and what is the same for all, whoever may ask.
    func admitPages(_ exchange: Exchange, to response: inout Response) async {
        guard response.status.code < 400, exchange.audience.isReadableByPages else { return preflightAccess(exchange).apply(to: &response) }
        await access(exchange).apply(to: &response)
    }

    /// The same where there is no route, or none was asked, by the rule of a preflight that names no requestor.
    /// - Parameter audience: Of the address; `nil`: nobody knows it.
    func admitPages(_ request: Request, _ audience: Route.Audience?, to response: inout Response) {
        if audience?.isOpenToEverybody == true { return CrossOrigin.everybody.apply(to: &response, isPreflight: request.method == .options) }
        guard audience?.isReadableByPages == true else { return CrossOrigin.nobody.apply(to: &response) }
        CrossOrigin(origin: request.headers.value(.origin), registeredIn: try? dependencies.catalogue.current())
            .apply(to: &response, isPreflight: request.method == .options)
    }

    private func access(_ exchange: Exchange) async -> CrossOrigin {
        guard let origin = exchange.headers.value(.origin), let catalogue = try? dependencies.catalogue.current() else { return .nobody }
        let anyone = CrossOrigin(origin: origin, registeredIn: catalogue)
        // Nobody is asked about a stranger.
        guard anyone.isAdmitted else { return .nobody }
        guard let requestors = await proven(exchange) else { return anyone }
        return CrossOrigin(origin: origin, domains: requestors.compactMap(catalogue.requestor).flatMap(\.domains))
    }

    /// - Returns: The requestors that a call was served for; `nil`: it was served without proof, as anybody's.
    private func proven(_ exchange: Exchange) async -> [String]? {
        if let served = exchange.servedRequestors { return served }
        // Where nobody looked at credentials the answer is everybody's.
        guard exchange.credentials.outcome == .held, let credentials = try? Credentials.optional(exchange) else { return nil }
        if credentials.signed != nil { return credentials.signedRequestor.map { [$0] } ?? [] }
        // The bearer held, or the call would have been refused; only what it is good for differs.
        for api in [ApiVersion.v1, .v2] {
            let request = VerifyAccessTokenRequest(accessToken: credentials.accessToken, api: api)
            if let client = try? await dependencies.authentication.verifyAccessToken(request, context: exchange.call) { return client.requestorIDs }
        }
        return []
    }
}
