internal import Catalogue
internal import Contracts
internal import Faults
internal import GatewayEdge

/// Reads what calls of the vendor's SDKs have in common (clients §3): a bearer, the requestor, and a device, which a stored token may name instead.
struct SdkCallReader: Sendable {
    let dependencies: Dependencies
    let reader: DeviceCallReader

    /// - Parameters:
    ///   - needsBearer: False where a stored token is enough.
    ///   - others: Reads the endpoint's own parameters.
    /// - Throws: `BearerProblem` or the first problem; one that the gateway finds itself is told only to the bearer of a good token.
    func read<Others>(
        _ exchange: Exchange, needsBearer: Bool = true, others: (Exchange) throws(Fault) -> Others
    ) async throws -> (call: DeviceCall, others: Others) {
        let bearer = try Bearer.optional(exchange)
        guard bearer != nil || !needsBearer else { throw BearerProblem(fault: Fault(.accessDenied, "An access token is required.")) }
        if bearer != nil { exchange.credentials.areHandedOn() }
        do {
            return (try call(exchange, bearer ?? ""), try others(exchange))
        } catch {
            if let bearer {
                _ = try await dependencies.authentication.verifyAccessToken(VerifyAccessTokenRequest(accessToken: bearer), context: exchange.call)
            }
            throw error
        }
    }

    private func call(_ exchange: Exchange, _ bearer: String) throws(Fault) -> DeviceCall {
        let requestor: String
        do { requestor = try exchange.required("requestor_id") } catch { throw Fault(.invalidRequestor, error.message) }
        let id = try dependencies.catalogue.current().requireRequestor(requestor).id
        exchange.serves([id])
        // Whether a token was stored may depend on it; what a device is has no such weight.
        let device = try reader.information(exchange, requestor: id, deviceType: try exchange.value("client_type") ?? "")
        return DeviceCall(
            accessToken: bearer, requestor: id, deviceID: try Self.device(exchange), device: device,
            clientAddress: exchange.facts.clientAddress.text, userAgent: exchange.userAgent)
    }

    /// The device that the call names: in its form, or in the header of the web SDK; empty: none.
    static func device(_ exchange: Exchange) throws(Fault) -> String {
        let sent = try exchange.value("device_id") ?? ""
        return sent.isEmpty ? exchange.headers.value(.webDeviceID) ?? "" : sent
    }
}
