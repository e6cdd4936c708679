internal import Catalogue
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Hummingbird
internal import NIOCore
internal import Tokens

/// Answers at a route, with what all routes share: bodies, preflights, 405, faults, CORS.
final class RouteResponder: Sendable {
    let dependencies: Dependencies
    private let refusals: Refusals

    init(dependencies: Dependencies, refusals: Refusals) {
        self.dependencies = dependencies
        self.refusals = refusals
    }

    func respond(_ request: Request, _ context: GatewayContext, _ match: RouteTree.Match) async -> Response {
        guard request.method != .options else { return preflight(request, context, match) }
        var (response, exchange) = await answer(request, context, match)
        await admitPages(exchange, to: &response)
        return response
    }

    /// - Returns: Also what the answer was made of.
    private func answer(_ request: Request, _ context: GatewayContext, _ match: RouteTree.Match) async -> (Response, Exchange) {
        let route = match.route
        guard let handler = route.handler(for: request.method) else {
            let exchange = exchange(request, context, match)
            return (refusals.methodNotAllowed(exchange, allow: route.allowed), exchange)
        }
        if route.beginsSignIn, let response = Self.lead(request, context.facts.host) { return (response, exchange(request, context, match)) }
        if case .administration = route.audience {
            let exchange = exchange(request, context, match)
            do { try await knowAdministrator(exchange) } catch { return (refusals.reply(to: error, exchange), exchange) }
        }
        if case .api(.proxiedMvpds) = route.audience {
            let exchange = exchange(request, context, match)
            do {
                try requireProxyAddress(exchange)
                try await knowAdministrator(exchange)
            } catch { return (refusals.reply(to: error, exchange), exchange) }
        }
        if route.audience.isOpenToRequestors,
            let seconds = dependencies.signatures.pause(request.headers, of: context.facts.clientAddress)
        {
            return (Response.tooManyRequests(retryAfter: seconds), exchange(request, context, match))
        }
        let body: ByteBuffer
        // A GET has its parameters in its query (rest-v1 §2.3).
        let rule = (request.method == .get || request.method == .head) && route.handlers[.post] != nil ? .ignored : route.body
        if Self.isLong(request, context, rule), route.audience.isOpenToRequestors {
            let exchange = exchange(request, context, match)
            do { try await refuseBadBearer(exchange) } catch {
                dependencies.signatures.charge(error, exchange)
                return (refusals.reply(to: error, exchange), exchange)
            }
        }
        do { body = try await read(request, context, rule) } catch {
            let exchange = exchange(request, context, match)
            return (refusals.badBody(error, exchange), exchange)
        }
        let exchange = exchange(request, context, match, body: body)
        let response = route.audience.isOpenToRequestors ? await share(exchange, route, handler) : await answer(exchange, route, handler).response
        return (response, exchange)
    }

    /// Leads a browser to the name of sign-ins, path and query as they are, before anything is looked up. There it gets the cookie that the answer of
    /// an MVPD, or of Apple, brings back. Its request counts as asked there.
    /// - Returns: `nil`: the sign-in begins here.
    private static func lead(_ request: Request, _ host: ServedHost) -> Response? {
        // A form was sent from a page that has led here already.
        guard let origin = host.signInOrigin, request.method == .get || request.method == .head, let target = request.head.path,
            target.utf8.first == UInt8(ascii: "/"), target.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else { return nil }
        return .redirect(to: origin + target)
    }

    /// MVPD proxies keep their lists from addresses that the settings name. Callers from elsewhere learn no more than that, whatever bearer they
    /// have.
    /// - Throws: `access_denied`.
    private func requireProxyAddress(_ exchange: Exchange) throws(Fault) {
        let accepted = dependencies.settings.mvpdProxyAddresses
        guard let address = IPAddress(exchange.facts.clientAddress.text), accepted.contains(where: { $0.contains(address) }) else {
            throw Fault(.accessDenied, "This address keeps no list of MVPDs here.")
        }
    }

    /// The caller's identity is checked before the content: a stranger's body is not even read (dashboard §5).
    /// - Throws: `access_denied`, or why nobody can tell.
    private func knowAdministrator(_ exchange: Exchange) async throws {
        let request = GetAdministratorRequest(token: try exchange.administrator())
        _ = try await dependencies.administration.getAdministrator(request, context: exchange.call)
    }

    /// The part of a body that is read before its sender is known, in octets. So much is searched for an access token in a form (clients §1.4).
    private static let longestUnknown = 8 << 10

    /// True when the body may be longer than what is worth reading for anybody.
    private static func isLong(_ request: Request, _ context: GatewayContext, _ rule: Route.BodyRule) -> Bool {
        if case .ignored = rule { return false }
        if let whole = context.body { return whole.readableBytes > longestUnknown }
        guard let declared = request.headers[.contentLength].flatMap(Int.init) else { return true }
        return declared > longestUnknown
    }

    /// A long body costs more than the check of a bearer, so the bearer comes first.
    /// - Throws: `access_denied`, `invalid_client`, or `BearerRejection`. The service that does the work says everything else.
    private func refuseBadBearer(_ exchange: Exchange) async throws {
        guard let credentials = try Credentials.optional(exchange) else {
            guard exchange.audience.demandsBearer else { return }
            throw BearerRejection(fault: Fault(.accessDenied, "An access token is required, before a body of this length."))
        }
        do {
            _ = try await dependencies.authentication.verifyAccessToken(credentials.verification(), context: exchange.call)
        } catch let fault as Fault where [.accessDenied, .invalidClient].contains(fault.code) {
            throw fault
        } catch {}
    }

    /// Answers as long as application and requestor have not had more than their share.
    private func share(_ exchange: Exchange, _ route: Route, _ handler: Route.Handler) async -> Response {
        let shares = dependencies.shares
        guard shares.isOn else { return await answer(exchange, route, handler).response }
        let requestor = knownRequestor(exchange)
        let charge: FairShares.Charge
        do throws(Fault) {
            charge = try shares.begin(Self.proof(exchange), requestor: requestor)
        } catch {
            return refusals.reply(to: error, exchange)
        }
        let (response, outcome) = await answer(exchange, route, handler)
        shares.end(charge, outcome)
        if outcome == .held, let bearer = charge.unknown { ask(whose: bearer, for: requestor) }
        return response
    }

    private static func proof(_ exchange: Exchange) -> FairShares.Proof {
        if let header = exchange.headers.value(.authorization) {
            if SignedRequestHeader.isMeant(header) { return SignedRequestHeader(header).map { .key($0.publicKey) } ?? .nothing }
            return Bearer.token(in: header).map { .bearer($0) } ?? .nothing
        }
        guard let token = try? exchange.value("access_token"), !token.isEmpty else { return .nothing }
        return .bearer(token)
    }

    private func knownRequestor(_ exchange: Exchange) -> String {
        guard let id = exchange.namedRequestor else { return "" }
        return (try? dependencies.catalogue.current())?.requestor(id)?.id ?? ""
    }

    /// Nobody waits for the answer.
    private func ask(whose token: String, for requestor: String) {
        Task { [authentication = dependencies.authentication, shares = dependencies.shares] in
            let request = VerifyAccessTokenRequest(accessToken: token)
            let context = CallContext(deadline: .now.advanced(by: .seconds(5)))
            guard let client = try? await authentication.verifyAccessToken(request, context: context) else { return }
            shares.learn(token, for: requestor, of: client.applicationID)
        }
    }

    /// - Returns: Also what became of the credentials.
    private func answer(_ exchange: Exchange, _ route: Route, _ handler: Route.Handler) async -> (response: Response, outcome: FairShares.Outcome) {
        do {
            let response =
                if let code = Self.code(route, exchange) {
                    try await dependencies.codes.trying(code, of: exchange) { try await handler(exchange) }
                } else { try await handler(exchange) }
            return (response, exchange.credentials.outcome)
        } catch let pause as CodePause {
            return (refusals.paused(pause, exchange), .unknown)
        } catch {
            dependencies.signatures.charge(error, exchange)
            exchange.credentials.failed(with: error)
            return (refusals.reply(to: error, exchange), exchange.credentials.outcome)
        }
    }

    /// - Returns: The registration code that the request names where the route looks one up.
    private static func code(_ route: Route, _ exchange: Exchange) -> String? {
        switch route.code {
        case .nowhere, .page: nil
        case .path: try? exchange.captured("code")
        case .parameter(let name): (try? exchange.value(name)) ?? nil
        }
    }

    private func preflight(_ request: Request, _ context: GatewayContext, _ match: RouteTree.Match) -> Response {
        var response = Response(status: .noContent, headers: [.allow: match.route.allowed])
        preflightAccess(exchange(request, context, match)).apply(to: &response, isPreflight: true)
        return response
    }

    private func exchange(_ request: Request, _ context: GatewayContext, _ match: RouteTree.Match, body: ByteBuffer = ByteBuffer()) -> Exchange {
        Exchange(request, context: context, match: match, body: body, timeout: dependencies.settings.requestTimeout)
    }

    private func read(_ request: Request, _ context: GatewayContext, _ rule: Route.BodyRule) async throws -> ByteBuffer {
        let settings = dependencies.settings
        let limit: Int
        switch rule {
        case .ignored: return ByteBuffer()
        case .form, .raw: limit = settings.maximumBodyBytes
        case .document: limit = 1 << 20
        case .largeForm: limit = 2 << 20
        case .assertion: limit = settings.maximumAssertionBytes
        }
        return try await BodyReader(timeout: settings.bodyTimeout).read(request, whole: context.body, limit: limit) {
            context.sayContinue(to: request)
        }
    }
}

/// The pages that may read an answer (rest-v1 §2.1). A page proves nothing by where it comes from: a foreign one is served as any caller, and its
/// browser keeps the answer from it.
extension RouteResponder {
    /// The access that a preflight may tell, which has neither credentials nor a body. A requestor that the address names decides. Where it names
    /// none, any requestor's page may ask.
    func preflightAccess(_ exchange: Exchange) -> CrossOrigin {
        guard exchange.audience.isReadableByPages || exchange.audience.isOpenToEverybody else { return .nobody }
        if exchange.audience.isOpenToEverybody { return .everybody }
        guard let origin = exchange.headers.value(.origin), let catalogue = try? dependencies.catalogue.current() else { return .nobody }
        if exchange.audience.isNamedARequestor, let id = exchange.namedRequestor, let requestor = catalogue.requestor(id) {
            return CrossOrigin(origin: origin, domains: requestor.domains)
        }
        return CrossOrigin(origin: origin, registeredIn: catalogue)
    }

    /// Only a requestor's pages may read its answer, whatever parameters say. All callers may read a refusal, and an answer that is the same for all.
    func admitPages(_ exchange: Exchange, to response: inout Response) async {
        guard response.status.code < 400, exchange.audience.isReadableByPages else { return preflightAccess(exchange).apply(to: &response) }
        await access(exchange).apply(to: &response)
    }

    /// The same where there is no route, or none was asked, by the rule of a preflight that names no requestor.
    /// - Parameter audience: The audience of the address; `nil`: nobody knows it.
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
