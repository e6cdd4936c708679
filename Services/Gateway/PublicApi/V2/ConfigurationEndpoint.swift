internal import Catalogue
internal import Clocks
internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import Memos

/// `/api/v2/{serviceProvider}/configuration`: a service provider and the MVPDs that may be used with it (rest-v2 §2.1).
struct ConfigurationEndpoint: Sendable {
    let reader: AppCallReader
    let catalogue: any CatalogueSource
    let clock: any WallClock
    private let texts = Memo<Shown, String>(capacity: 512)

    /// All that the list depends on.
    private struct Shown: Hashable {
        let version: UInt64
        let requestor: String
        let platform: Platform?
    }

    init(reader: AppCallReader, catalogue: any CatalogueSource, clock: any WallClock = SystemClock()) {
        self.reader = reader
        self.catalogue = catalogue
        self.clock = clock
    }

    @Sendable func show(_ exchange: Exchange) async throws -> Response {
        let requestor = try await reader.serviceProvider(exchange)
        let device = try DeviceInformation.tolerant(exchange.headers.value(.xDeviceInfo), userAgent: exchange.userAgent)
        let catalogue = try catalogue.current()
        let platform = try ConfigEndpoint.platform(exchange)
        let shown = Shown(version: catalogue.version, requestor: requestor.id, platform: platform)
        let text = texts.value(shown) { String(decoding: Self.requestor(requestor, catalogue, platform).jsonBytes, as: UTF8.self) }
        let document = Document(
            "configuration",
            [
                .init("device", .text(device.type)), .init("clientType", .text(Self.clientType(device.platform))),
                .init("os", .text(device.osName.isEmpty ? "Unknown" : device.osName)), .init("time", .number(clock.now().milliseconds)),
                .init("requestor", .json(text)),
            ])
        return Response(document, format: .json)
    }

    private static func requestor(_ requestor: Requestor, _ catalogue: Catalogue, _ platform: Platform?) -> Document {
        let domains = requestor.domains.map { domain in
            Document.Value.object([.init("name", .text(domain.name)), .init("mvpdInitiated", .flag(domain.mvpdInitiated))])
        }
        let mvpds = catalogue.activeIntegrations(requestor: requestor.id, platform: platform).map { pair in
            let sso = MvpdListing.sso(pair, catalogue, platform).filter { $0.name != "requiredMetadataFields" }
            return Document.Value.object(MvpdListing.v2Members(pair.mvpd) + sso)
        }
        return Document(
            "requestor",
            [
                .init("id", .text(requestor.id)), .init("name", .text(requestor.name)), .init("domains", .list(domains, item: "domain")),
                .init("mvpds", .list(mvpds, item: "mvpd")),
            ])
    }

    private static func clientType(_ platform: Platform) -> String {
        switch platform {
        case .ios: "iOS"
        case .tvos: "tvOS"
        case .roku: "Roku"
        case .fireTv: "fireTV"
        case .android: "Android"
        case .desktop: "Desktop"
        case .otherMobile: "Mobile"
        case .otherTv: "TV"
        case .unknown, .unrecognized: "Unknown"
        }
    }
}
