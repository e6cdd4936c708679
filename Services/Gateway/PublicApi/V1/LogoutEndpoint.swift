internal import Catalogue
internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// `/api/v1/logout`: by an app, or by a web view that is then sent on (rest-v1 §3.20).
struct LogoutEndpoint: Sendable {
    let dependencies: Dependencies
    let reader: DeviceCallReader

    private static let rules = DeviceCallReader.Rules(requestorIsOptional: true)

    @Sendable func delete(_ exchange: Exchange) async throws -> Response {
        let call = try await reader.read(exchange, Self.rules) { _ throws(Fault) in }.call
        _ = try await dependencies.authentication.logout(LogoutRequest(call: call), context: exchange.changingCall)
        return .empty(.noContent)
    }

    @Sendable func browse(_ exchange: Exchange) async throws -> Response {
        do {
            return try await clear(exchange)
        } catch {
            // A web view cannot show a token fault: it goes where it was to go, with the fault (rest-v1 §2.2).
            guard BearerProblem.isOne(error), let target = try? sent(exchange), let requestor = try? requestor(exchange),
                let catalogue = try? dependencies.catalogue.current(), RedirectRule(requestors: [requestor], catalogue).accepts(target)
            else { throw error }
            exchange.credentials.failed(with: error)
            return .redirect(to: Self.with("error=access_denied", target))
        }
    }

    private func clear(_ exchange: Exchange) async throws -> Response {
        let (call, target) = try await reader.read(exchange, Self.rules) { exchange throws(Fault) in try acceptable(exchange) }
        if let target, call.requestor.isEmpty || RedirectRule.isApplicationAddress(target) { try await requireCovered(target, call, exchange) }
        let fallback = try dependencies.catalogue.current().requestor(call.requestor)?.defaultRedirectURL ?? ""
        let end = target ?? fallback
        let outcome = try await dependencies.authentication.logout(
            LogoutRequest(call: call, hasBrowser: true, redirectURL: end), context: exchange.changingCall)
        let location = outcome.visitURL.isEmpty ? end : outcome.visitURL
        return location.isEmpty ? .empty(.noContent) : .redirect(to: location)
    }

    private func sent(_ exchange: Exchange) throws(Fault) -> String? {
        guard let url = try exchange.value("redirect_url"), !url.isEmpty else { return nil }
        return url
    }

    /// - Returns: `nil` when the call names none.
    private func requestor(_ exchange: Exchange) throws(Fault) -> Requestor? {
        guard let id = try exchange.value("requestor"), !id.isEmpty else { return nil }
        return try dependencies.catalogue.current().requireRequestor(id)
    }

    /// The address to go to, when one was sent.
    /// - Throws: `invalid_redirect_url` when it can be told without the application that it is not at the requestor that the call names.
    private func acceptable(_ exchange: Exchange) throws(Fault) -> String? {
        guard let url = try sent(exchange), let requestor = try requestor(exchange), !RedirectRule.isApplicationAddress(url) else {
            return try sent(exchange)
        }
        guard RedirectRule(requestors: [requestor], try dependencies.catalogue.current()).accepts(url) else { throw Self.foreign(url, [requestor]) }
        return url
    }

    /// The address must be one of the application, or, without a requestor, at one that the application covers.
    private func requireCovered(_ url: String, _ call: DeviceCall, _ exchange: Exchange) async throws {
        let client = try await dependencies.authentication.verifyAccessToken(
            VerifyAccessTokenRequest(accessToken: call.accessToken, requestor: call.requestor, signedRequest: call.signedRequest),
            context: exchange.call)
        let catalogue = try dependencies.catalogue.current()
        let requestors = call.requestor.isEmpty ? client.requestorIDs : [call.requestor]
        let found = requestors.compactMap(catalogue.requestor)
        let rule = RedirectRule(
            requestors: found, application: catalogue.application(client.applicationID), catalogue)
        guard rule.accepts(url) else { throw Self.foreign(url, found) }
    }

    /// The address with one more parameter.
    private static func with(_ parameter: String, _ url: String) -> String {
        let address = url.prefix { $0 != "#" }
        return "\(address)\(address.contains("?") ? "&" : "?")\(parameter)\(url.dropFirst(address.count))"
    }

    private static func foreign(_ url: String, _ requestors: [Requestor]) -> Fault {
        Fault(
            .invalidRedirectURL,
            RedirectRule.isPlainOfRegistered(url, requestors)
                ? "The redirect_url is by plain HTTP: at that domain only https is accepted."
                : "The redirect_url is at no registered domain, and has no registered scheme.")
    }
}
