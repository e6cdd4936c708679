internal import Catalogue
internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import Memos
internal import NIOCore

/// `/api/v1/config/{requestor}`: a requestor and the MVPDs that may be used with it (rest-v1 §3.3).
struct ConfigEndpoint: Sendable {
    let dependencies: Dependencies
    private let bodies = Memo<Shown, ByteBuffer>(capacity: 512)

    /// All that a body depends on.
    private struct Shown: Hashable {
        let version: UInt64
        let requestor: String
        let platform: Platform?
        let format: ReplyFormat
    }

    init(dependencies: Dependencies) { self.dependencies = dependencies }

    @Sendable func show(_ exchange: Exchange) async throws -> Response {
        let catalogue = try dependencies.catalogue.current()
        let id = try exchange.captured("requestor")
        exchange.serves([id])
        if let credentials = try Credentials.optional(exchange) {
            let request = credentials.verification(requestor: catalogue.requestor(id)?.id ?? "")
            _ = try await dependencies.authentication.verifyAccessToken(request, context: exchange.call)
        }
        let requestor = try catalogue.requireRequestor(id)
        let platform = try Self.platform(exchange)
        if let bridge = requestor.bridge, bridge.everyMvpd || !catalogue.bridgedIntegrations(requestor: requestor.id).filter(\.enabled).isEmpty {
            return try await merged(requestor, bridge, catalogue, platform, exchange)
        }
        let shown = Shown(version: catalogue.version, requestor: requestor.id, platform: platform, format: exchange.format)
        return Response(
            body: bodies.value(shown) { Self.document(requestor, catalogue, platform: platform).body(shown.format) }, format: shown.format)
    }

    /// With what an upstream offers. Without its list there is none at all: half a list would tell people that their provider is gone (bridge §6).
    private func merged(
        _ requestor: Requestor, _ bridge: RequestorBridge, _ catalogue: Catalogue, _ platform: Platform?, _ exchange: Exchange
    ) async throws -> Response {
        let request = ListBridgedProvidersRequest(
            requestor: requestor.id, device: try Self.device(exchange), clientAddress: exchange.facts.clientAddress.text)
        let list = try await dependencies.authentication.listBridgedProviders(request, context: exchange.call)
        let mvpds = UpstreamListing(requestor, bridge, catalogue, platform).members(list.providers).map { Document.Value.object($0) }
        return Response(Self.document(requestor, mvpds: mvpds), format: exchange.format)
    }

    private static func device(_ exchange: Exchange) throws -> DeviceInformation {
        guard let encoded = try exchange.headers[.xDeviceInfo] ?? exchange.value("device_info"), !encoded.isEmpty else { return DeviceInformation() }
        return DeviceInformation.lenient(encoded, userAgent: exchange.userAgent)
    }

    /// - Returns: `unknown` for a device that is of no platform that the catalogue names; `nil` when the call tells nothing of its device.
    static func platform(_ exchange: Exchange) throws -> Platform? {
        guard let encoded = try exchange.headers[.xDeviceInfo] ?? exchange.value("device_info"), !encoded.isEmpty else { return nil }
        if let device = try? DeviceInformation.strict(encoded, userAgent: exchange.userAgent) { return device.platform }
        let guessed = DeviceInformation.lenient(encoded, userAgent: exchange.userAgent).platform
        return guessed == .unknown ? nil : guessed
    }

    /// - Parameter platform: The platform whose values are shown; `nil`: the general ones, with the single sign-on settings of any platform that is
    ///   configured.
    static func document(_ requestor: Requestor, _ catalogue: Catalogue, platform: Platform?) -> Document {
        let mvpds = catalogue.activeIntegrations(requestor: requestor.id, platform: platform).map { pair in
            Document.Value.object(MvpdListing.members(pair.mvpd) + MvpdListing.sso(pair, catalogue, platform))
        }
        return document(requestor, mvpds: mvpds)
    }

    private static func document(_ requestor: Requestor, mvpds: [Document.Value]) -> Document {
        let domains = requestor.domains.map { domain in
            Document.Value.object([.init("name", .text(domain.name)), .init("mvpdInitiated", .flag(domain.mvpdInitiated))])
        }
        return Document(
            "config",
            [
                .init(
                    "requestor",
                    .object([
                        .init("id", .text(requestor.id)), .init("name", .text(requestor.name)),
                        .init("domains", .list(domains, item: "domain")), .init("mvpds", .list(mvpds, item: "mvpd")),
                    ]))
            ])
    }
}
