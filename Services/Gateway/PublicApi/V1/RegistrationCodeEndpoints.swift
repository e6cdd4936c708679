internal import Catalogue
internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// `/reggie/v1/{requestor}/regcode`: codes that tie a browser's login to a device (rest-v1 §3.4 to §3.6).
struct RegistrationCodeEndpoints: Sendable {
    let dependencies: Dependencies
    let reader: DeviceCallReader

    @Sendable func create(_ exchange: Exchange) async throws -> Response {
        let (call, request) = try await reader.read(
            exchange, DeviceCallReader.Rules(requestorInPath: true, acceptsDummy: true)
        ) { exchange throws(Fault) in
            CreateRegistrationCodeRequest(
                mvpd: try exchange.value("mvpd") ?? "", ttlSeconds: try Self.lifetime(exchange.value("ttl")),
                registrationURL: try exchange.value("registrationURL") ?? "")
        }
        var complete = request
        complete.call = call
        let code = try await dependencies.liveCodes.make(for: exchange.facts.clientAddress, seconds: request.ttlSeconds) { [complete] in
            try await dependencies.authentication.createRegistrationCode(complete, context: exchange.changingCall)
        }
        return Response(document(code, exchange), format: exchange.format, status: .created)
    }

    @Sendable func show(_ exchange: Exchange) async throws -> Response {
        let request = try request(exchange, try Credentials.optional(exchange) ?? Credentials())
        let code = try await dependencies.authentication.getRegistrationCode(request, context: exchange.call)
        return Response(document(code, exchange), format: exchange.format)
    }

    @Sendable func delete(_ exchange: Exchange) async throws -> Response {
        let request = try request(exchange, try Credentials.required(exchange))
        _ = try await dependencies.authentication.deleteRegistrationCode(request, context: exchange.changingCall)
        return .empty(.noContent)
    }

    private func request(_ exchange: Exchange, _ credentials: Credentials) throws(Fault) -> RegistrationCodeRequest {
        let requestor = try exchange.captured("requestor")
        guard !requestor.isEmpty else { throw Fault(.invalidRequestor, "Required 'requestor' is not present") }
        exchange.serves([requestor])
        return RegistrationCodeRequest(
            accessToken: credentials.accessToken, requestor: requestor, code: try exchange.captured("code"), signedRequest: credentials.signed)
    }

    private func document(_ code: RegistrationCode, _ exchange: Exchange) -> Document {
        let configured = (try? dependencies.catalogue.current())?.requestor(code.requestor)?.registrationURL ?? ""
        let page = configured.isEmpty ? exchange.facts.host.origin + ActivationPages.path : configured
        return RegistrationCodeDocument(code: code, loginPage: page).document
    }

    /// Seconds, 1 to 36000; 0 when it is absent or empty: the service's default.
    private static func lifetime(_ text: String?) throws(Fault) -> UInt32 {
        guard let text, !text.isEmpty else { return 0 }
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let seconds = UInt32(text), (1...36000).contains(seconds) else {
            throw Fault(.invalidRequest, "Parameter 'ttl' must be a number of seconds from 1 to 36000")
        }
        return seconds
    }
}
