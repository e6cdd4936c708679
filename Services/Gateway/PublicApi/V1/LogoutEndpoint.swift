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
            guard BearerRejection.isOne(error), let target = try? sent(exchange), let requestor = try? requestor(exchange),
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

/// Addresses to which a browser may be sent (rest-v1 §3.1, §3.7). They are web addresses at or under a registered domain, the URL schemes of channels
/// and programmers, and `adobepass://` addresses of an application.
struct RedirectRule {
    private static let applicationScheme = "adobepass://"

    private let domains: [Domain]
    private let schemes: [String]
    private let application: Contracts.Application?

    /// - Parameter application: The caller's; `nil` where it is not known: no application's address is accepted then.
    init(requestors: [Requestor], application: Contracts.Application? = nil, _ catalogue: Catalogue) {
        self.application = application
        domains = requestors.flatMap(\.domains)
        schemes = requestors.flatMap(catalogue.customSchemes)
    }

    func accepts(_ url: String) -> Bool {
        // A header can carry nothing else, and browsers read a backslash as a slash.
        guard url.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "\\") }) else { return false }
        if let origin = WebOrigin(url) { return domains.cover(scheme: origin.scheme, host: origin.host) }
        if Self.isApplicationAddress(url) { return application.map { Self.isAddress(url, of: $0) } ?? false }
        return schemes.contains { url.lowercased().hasPrefix($0.lowercased() + "://") }
    }

    /// True for a web address that would be accepted by HTTPS.
    static func isPlainOfRegistered(_ url: String, _ requestors: [Requestor]) -> Bool {
        guard let origin = WebOrigin(url), origin.scheme == "http" else { return false }
        return requestors.flatMap(\.domains).cover(scheme: "https", host: origin.host)
    }

    /// True for an address that only the application's own record can allow.
    static func isApplicationAddress(_ url: String) -> Bool { url.lowercased().hasPrefix(applicationScheme) }

    /// One of the SDKs' constants for the application's platforms, or one of its domains backwards.
    private static func isAddress(_ url: String, of application: Contracts.Application) -> Bool {
        let host = url.dropFirst(applicationScheme.count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }.lowercased()
        switch host {
        case "ios.app": return application.platforms.contains(.ios)
        case "android.app": return application.platforms.contains(.fireTv) || application.platforms.contains(.android)
        default: return application.redirectDomains.contains { $0.lowercased().split(separator: ".").reversed().joined(separator: ".") == host }
        }
    }
}

/// `/api/v1/tokens/usermetadata`: what an app may know of the person (rest-v1 §3.19).
struct MetadataEndpoint: Sendable {
    let dependencies: Dependencies
    let reader: DeviceCallReader

    private static let rules = DeviceCallReader.Rules(requestorIsOptional: true)

    @Sendable func show(_ exchange: Exchange) async throws -> Response {
        let call = try await reader.read(exchange, Self.rules) { _ throws(Fault) in }.call
        let metadata = try await dependencies.authentication.getUserMetadata(SessionRequest(call: call), context: exchange.call)
        guard !metadata.data.isEmpty else {
            // The list of codes has none for it: the body stays plain (rest-v1 §2.8).
            return Response(ErrorDocument.plain(status: 404, message: "Not Found", details: nil), format: exchange.format, status: .notFound)
        }
        return Response(Self.document(metadata), format: exchange.format)
    }

    static func document(_ metadata: UserMetadata) -> Document {
        let data = metadata.data.compactMap { entry in entry.value.map { Document.Member(entry.key, value($0)) } }
        return Document(
            "usermetadata",
            [
                .init("updated", .number(metadata.updatedAtSeconds)), .init("encrypted", .list(metadata.encrypted.map { .text($0) }, item: "key")),
                .init("data", .object(data)),
            ])
    }

    static func value(_ value: MetadataEntry.Value) -> Document.Value {
        switch value {
        case .text(let text): .text(text)
        case .flag(let flag): .flag(flag)
        case .number(let number): .number(number)
        case .list(let list): .list(list.values.map { .text($0) }, item: "value")
        case .map(let map): .object(map.entries.map { .init($0.key, .text($0.value)) })
        }
    }
}
