internal import Catalogue
internal import Contracts
internal import Cryptography
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// Reads the common parts of calls of REST v2, Automatic Sign-In and Sign in with Apple. It keeps the order of rest-v2 §1.5: bearer, requestor,
/// device identifier, device information, the rest.
struct AppCallReader: Sendable {
    let authentication: any Authentication
    let catalogue: any CatalogueSource
    var api = ApiVersion.v1
    /// False for those calls of REST v2 that a service token says nothing to (rest-v2 §1.2).
    var takesServiceToken = true

    /// A call of a device.
    /// - Parameter others: Reads what the endpoint alone has.
    /// - Throws: `BearerRejection` or the first problem in that order. A problem that the gateway finds itself is told only to the bearer of a good
    ///   token; otherwise the owning service checks the token together with its own work.
    func device<Others>(
        _ exchange: Exchange, others: (Exchange) throws(Fault) -> Others
    ) async throws -> (call: DeviceCall, others: Others) {
        let token = try Bearer.required(exchange)
        var requestor = ""
        do {
            requestor = try self.requestor(exchange)
            return (try call(exchange, token: token, requestor: requestor), try others(exchange))
        } catch {
            try await verify(token, requestor, exchange)
            throw error
        }
    }

    /// A call that names no device, checked for its bearer: for what the gateway answers by itself.
    /// - Returns: The service provider.
    /// - Throws: `BearerRejection`, `access_denied`, `invalid_client`, `insufficient_scope`, `invalid_requestor`: the bearer comes first.
    func serviceProvider(_ exchange: Exchange) async throws -> Requestor {
        let token = try Bearer.required(exchange)
        let id = (try? requestor(exchange)) ?? ""
        try await verify(token, id, exchange)
        return try catalogue.current().requireRequestor(try requestor(exchange))
    }

    /// A call that names no device, for the owning service to check.
    /// - Throws: As `device`.
    func client<Others>(
        _ exchange: Exchange, others: (Exchange) throws(Fault) -> Others
    ) async throws -> (token: String, requestor: String, others: Others) {
        let token = try Bearer.required(exchange)
        var requestor = ""
        do {
            requestor = try self.requestor(exchange)
            return (token, requestor, try others(exchange))
        } catch {
            try await verify(token, requestor, exchange)
            throw error
        }
    }

    /// A call of a programmer's own backend, which has no device headers (apple §4).
    /// - Throws: `BearerRejection`, `invalid_requestor`, or what the endpoint finds; the bearer comes first, as for devices.
    func backend<Others>(
        _ exchange: Exchange, others: (Exchange) throws(Fault) -> Others
    ) async throws -> (call: BackendCall, others: Others) {
        let token = try Bearer.required(exchange)
        var requestor = ""
        do {
            requestor = try self.requestor(exchange)
            return (BackendCall(accessToken: token, requestor: requestor), try others(exchange))
        } catch {
            // A backend's token is not one of the API that this check is for: that it is genuine is enough here.
            do { try await verify(token, requestor, exchange) } catch let fault as Fault where fault.code == .insufficientScope {
                exchange.credentials.failed(with: fault)
            }
            throw error
        }
    }

    private func verify(_ token: String, _ requestor: String, _ exchange: Exchange) async throws {
        let request = VerifyAccessTokenRequest(accessToken: token, requestor: requestor, api: api)
        _ = try await authentication.verifyAccessToken(request, context: exchange.call)
    }

    private func requestor(_ exchange: Exchange) throws(Fault) -> String {
        let id: String
        do { id = try exchange.capturedRequestor() } catch { throw Fault(.invalidRequestor, error.message) }
        exchange.serves([id])
        return try catalogue.current().requireRequestor(id).id
    }

    private func call(_ exchange: Exchange, token: String, requestor: String) throws(Fault) -> DeviceCall {
        let id = try DeviceIdentifier.sent(exchange)
        var device = try DeviceInformation.tolerant(exchange.headers[.xDeviceInfo], userAgent: exchange.userAgent)
        let address = exchange.facts.clientAddress
        let isBridged = try catalogue.current().requestor(requestor)?.bridge != nil
        if isBridged {
            UpstreamHeaders.setConnection(of: &device, exchange)
        } else if address.isForwarded || device.connectionIP.isEmpty {
            device.connectionIP = address.text
        }
        return DeviceCall(
            accessToken: token, requestor: requestor, deviceID: id, device: device, clientAddress: address.text, userAgent: exchange.userAgent,
            subjectToken: SubjectToken.sent(exchange), api: api, partnerStatus: api == .v2 ? PartnerFrameworkStatus.sent(exchange) : nil,
            serviceToken: api == .v2 && takesServiceToken ? ServiceTokenHeader.sent(exchange) : "",
            clientPort: isBridged ? UInt32(exchange.facts.clientPort) : 0)
    }
}

/// `AP-Device-Identifier: fingerprint <Base64>` (rest-v2 §1.3).
enum DeviceIdentifier {
    /// The decoded id, the same text as `deviceId` of the v1 API.
    /// - Throws: `invalid_device_id` when the header is absent, of another type, or its id is no printable text of 1 to 512 characters.
    static func sent(_ exchange: Exchange) throws(Fault) -> String {
        let sent = exchange.headers[values: .apDeviceIdentifier]
        guard let header = sent.first else { throw Fault(.invalidDeviceID, "Required 'AP-Device-Identifier' is not present") }
        let parts = header.split(separator: " ")
        guard sent.count == 1, parts.count == 2, parts[0] == "fingerprint", let id = decode(parts[1]) else {
            throw Fault(.invalidDeviceID, "'AP-Device-Identifier' must be 'fingerprint' and the Base64 of the device's id")
        }
        guard isPrintable(id), (1...512).contains(id.unicodeScalars.count), id != "dummy" else {
            throw Fault(.invalidDeviceID, "The device's id must have 1 to 512 printable characters")
        }
        return id
    }

    private static func decode(_ encoded: Substring) -> String? {
        guard encoded.utf8.count <= 4096 else { return nil }
        return Base64.tolerant(encoded).flatMap { String(validating: $0, as: UTF8.self) }
    }

    private static func isPrintable(_ id: String) -> Bool {
        id.utf8.allSatisfy { (0x20..<0x7f).contains($0) } || id.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }
}

/// `Idempotency-Key`: the same key and call have one effect and one answer, for 24 hours (apple §4).
enum IdempotencyKey {
    /// - Throws: `invalid_request` when there is none, more than one, or one of another form.
    static func required(_ exchange: Exchange) throws(Fault) -> String {
        let sent = exchange.headers[values: .idempotencyKey]
        guard let key = sent.first else {
            throw Fault(.invalidRequest, "Required 'Idempotency-Key' is not present: a new one for each change, the same one when it is repeated")
        }
        guard sent.count == 1, (1...128).contains(key.utf8.count), key.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw Fault(.invalidRequest, "'Idempotency-Key' must have 1 to 128 visible ASCII characters")
        }
        return key
    }
}
