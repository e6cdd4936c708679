internal import Catalogue
internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import NIOCore
internal import StrictJson

/// `/api/{serviceProvider}/serviceToken`, `link`, `unlink` and `list`: tokens that name a person to the apps of a programmer (rest-v2 §2.14).
struct ServiceTokenEndpoints: Sendable {
    let dependencies: Dependencies
    let reader: AppCallReader

    // MARK: Tokens

    @Sendable func issue(_ exchange: Exchange) async throws -> Response {
        let (call, person) = try await reader.device(exchange) { exchange throws(Fault) in try SsoPerson(exchange) }
        let token: ServiceToken
        switch person {
        case .named(let name):
            token = try await dependencies.authentication.issueServiceToken(
                IssueServiceTokenRequest(call: call, person: name), context: exchange.changingCall)
        case .linked(let code): token = try await linked(call, by: code, exchange)
        }
        return Self.reply(token, "CREATED", .created)
    }

    /// A caller without a good bearer makes no guess, and keeps nobody from one.
    private func linked(_ call: DeviceCall, by code: String, _ exchange: Exchange) async throws -> ServiceToken {
        let bearer = VerifyAccessTokenRequest(accessToken: call.accessToken, requestor: call.requestor, api: .v2)
        let client = try await dependencies.authentication.verifyAccessToken(bearer, context: exchange.call)
        let programmer = try dependencies.catalogue.current().requireRequestor(call.requestor).programmerID
        return try await dependencies.codes.tryingLink(code, by: client, of: programmer, exchange) {
            try await dependencies.authentication.issueServiceToken(
                IssueServiceTokenRequest(call: call, link: code), context: exchange.changingCall)
        }
    }

    @Sendable func refresh(_ exchange: Exchange) async throws -> Response {
        let (bearer, requestor, token) = try await reader.client(exchange) { exchange throws(Fault) in try ServiceTokenHeader.required(exchange) }
        let fresh = try await dependencies.authentication.refreshServiceToken(
            RefreshServiceTokenRequest(accessToken: bearer, requestor: requestor, serviceToken: token, api: .v2), context: exchange.changingCall)
        return Self.reply(fresh, "OK", .ok)
    }

    /// The reference's tables and samples name the token differently; clients find it by both names (rest-v2 D17).
    private static func reply(_ token: ServiceToken, _ word: String, _ status: HTTPResponse.Status) -> Response {
        Response(
            Document(
                "response",
                [
                    .init("status", .text(word)), .init("serviceToken", .text(token.token)), .init("jws", .text(token.token)),
                    .init("notBefore", .number(token.issuedAtMilliseconds)), .init("notAfter", .number(token.expiresAtMilliseconds)),
                ]), format: .json, status: status)
    }

    // MARK: Devices

    @Sendable func link(_ exchange: Exchange) async throws -> Response {
        let request = try await call(exchange)
        // Only whom a good bearer names is counted.
        let bearer = VerifyAccessTokenRequest(accessToken: request.call?.accessToken ?? "", requestor: request.call?.requestor ?? "", api: .v2)
        _ = try await dependencies.authentication.verifyAccessToken(bearer, context: exchange.call)
        let programmer = try dependencies.catalogue.current().requireRequestor(request.call?.requestor ?? "").programmerID
        if let seconds = dependencies.codes.links.make(of: programmer) { throw CodePause(seconds: seconds) }
        let made = try await dependencies.authentication.createServiceLink(request, context: exchange.changingCall)
        return Response(
            Document(
                "response",
                [
                    .init("status", .text("CREATED")), .init("code", .text(made.code)), .init("link", .text(made.code)),
                    .init("notBefore", .number(made.createdAtMilliseconds)), .init("notAfter", .number(made.expiresAtMilliseconds)),
                ]), format: .json, status: .created)
    }

    @Sendable func unlink(_ exchange: Exchange) async throws -> Response {
        let (call, devices) = try await reader.device(exchange) { exchange throws(Fault) in
            _ = try ServiceTokenHeader.required(exchange)
            return try Self.devices(exchange)
        }
        let gone = try await dependencies.authentication.unlinkServiceDevices(
            UnlinkServiceDevicesRequest(call: call, devices: devices), context: exchange.changingCall)
        let names = Document.Value.list(gone.devices.map { .text($0) }, item: "device")
        return Response(Document("response", [.init("status", .text("OK")), .init("unlinkedDevices", names)]), format: .json)
    }

    @Sendable func list(_ exchange: Exchange) async throws -> Response {
        let found = try await dependencies.authentication.listServiceDevices(try await call(exchange), context: exchange.call)
        let devices = found.devices.map { Document.Member($0.id, .object(Self.members($0))) }
        return Response(Document("response", [.init("devices", .object(devices))]), format: .json)
    }

    private static func members(_ device: ServiceDevice) -> [Document.Member] {
        let told = device.device ?? DeviceInformation()
        return [
            .init("deviceType", .text(told.type)), .init("model", .text(told.model)), .init("os", .text(told.osName)),
            .init("osVersion", .text(told.osVersion)), .init("lastSeen", .number(device.seenAtMilliseconds)),
            .init("type", .text(device.hasLogin ? "regular" : "sso")),
        ]
    }

    private func call(_ exchange: Exchange) async throws -> ServiceTokenCall {
        let call = try await reader.device(exchange) { exchange throws(Fault) in _ = try ServiceTokenHeader.required(exchange) }.call
        return ServiceTokenCall(call: call)
    }

    /// `{"devices": [...]}`, each a text that is not empty. A body of another type is as good as none (rest-v2 §1.1).
    /// - Throws: `request_null`, `invalid_request`.
    private static func devices(_ exchange: Exchange) throws(Fault) -> [String] {
        guard exchange.body.readableBytes > 0, Exchange.mediaType(exchange.headers) == "application/json" else {
            throw Fault(SingleSignOnErrors.requestNull, "The body must be a JSON object with 'devices'.")
        }
        guard let document = try? JsonDocument(parsing: Array(exchange.body.readableBytesView)) else { throw unreadable }
        if case .null = document.root.content { throw Fault(SingleSignOnErrors.requestNull, "The body must be a JSON object with 'devices'.") }
        guard case .object(let members) = document.root.content else { throw unreadable }
        let lists = members.filter { $0.name == "devices" }
        guard lists.count == 1, case .array(let items) = lists[0].value.content else { throw unreadable }
        var devices: [String] = []
        for item in items {
            guard case .string(let text) = item.content, !text.isEmpty, !text.utf8.contains(0) else { throw unreadable }
            devices.append(text)
        }
        return devices
    }

    private static let unreadable = Fault(.invalidRequest, "The body must be a JSON object with 'devices', a list of texts.")
}

/// `AD-Service-Token`: whom an identity service says that the device's user is (rest-v2 §1.3). The owning service finds out if it holds.
enum ServiceTokenHeader {
    /// In octets; no service reads a longer one.
    static let longest = 16 * 1024

    /// Where a call goes on without one.
    /// - Returns: An empty text when none was sent, more than one, or one that nobody would read.
    static func sent(_ exchange: Exchange) -> String { (try? required(exchange)) ?? "" }

    /// - Throws: `header_missing`; `header_invalid` when it was sent twice or is too long.
    static func required(_ exchange: Exchange) throws(Fault) -> String { try SsoHeader.text(.adServiceToken, longest: longest, exchange) }
}

/// For whom a token is asked: a person by the programmer's name, or whoever has made a code.
enum SsoPerson: Hashable, Sendable {
    case named(String)
    case linked(String)

    /// - Throws: `header_missing` without either; `header_invalid` when both were sent, one twice, or one of no accepted form.
    init(_ exchange: Exchange) throws(Fault) {
        let names = (SsoHeader.isSent(.xSsoID, exchange), SsoHeader.isSent(.xSsoLink, exchange))
        switch names {
        case (true, false): self = .named(try SsoHeader.text(.xSsoID, longest: 512, exchange))
        case (false, true):
            let code = try SsoHeader.text(.xSsoLink, longest: 16, exchange)
            guard code.utf8.count == 6, code.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
                throw Fault(SingleSignOnErrors.headerInvalid, "'X-SSO-LINK' must have six digits")
            }
            self = .linked(code)
        case (false, false): throw Fault(SingleSignOnErrors.headerMissing, "Required 'X-SSO-ID' or 'X-SSO-LINK' is not present")
        case (true, true): throw Fault(SingleSignOnErrors.headerInvalid, "'X-SSO-ID' and 'X-SSO-LINK' exclude each other")
        }
    }
}

/// A header of these calls: sent once, not blank, and bounded before it is handed on.
enum SsoHeader {
    static func isSent(_ name: HTTPFields.Element.Name, _ exchange: Exchange) -> Bool {
        exchange.headers[values: name].contains { $0.contains { !$0.isWhitespace } }
    }

    /// - Throws: `header_missing`, `header_invalid`.
    static func text(_ name: HTTPFields.Element.Name, longest: Int, _ exchange: Exchange) throws(Fault) -> String {
        guard isSent(name, exchange) else { throw Fault(SingleSignOnErrors.headerMissing, "Required '\(name)' is not present") }
        let sent = exchange.headers[values: name]
        guard sent.count == 1, sent[0].utf8.count <= longest, !sent[0].utf8.contains(0) else {
            throw Fault(SingleSignOnErrors.headerInvalid, "'\(name)' must be sent once, with at most \(longest) octets")
        }
        return sent[0]
    }
}
