internal import Catalogue
internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// What an upstream offers at a channel to devices of one platform, asked anew, beside what the catalogue has of it (bridge §15.3).
struct UpstreamOfferPages: Sendable {
    static let page = "offers"
    /// Rows of the table; an upstream may list thousands.
    private static let most = 500

    let console: Console

    private var controller: UpstreamController {
        UpstreamController(administration: console.administration, operations: console.dependencies.operations)
    }

    @Sendable func show(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let entry = try await EntryPages(console: console, collection: .upstreams).entry(exchange, visitor)
        let channels = UpstreamSection.channels(of: entry.id, console)
        let (requestor, word) = (try exchange.value("requestor") ?? "", try exchange.value("platform") ?? "")
        let platform = UpstreamController.platforms.first { OctetText($0.word) == OctetText(word) }?.platform
        var content: [String: Any] = [
            "upstreamName": entry.id, "upstreamAddress": ConsoleCollection.upstreams.address(of: entry.id),
            "formAddress": ConsoleCollection.upstreams.address(of: entry.id, Self.page),
            "checkAddress": ConsoleCollection.upstreams.address(of: entry.id, UpstreamCheckPages.page),
            "channels": ConsoleScope.choices(channels, chosen: [requestor]), "hasChannels": !channels.isEmpty,
            "platforms": UpstreamController.platforms.map {
                ["platformWord": $0.word, "platformName": Self.name($0.platform), "isPlatform": $0.platform == platform] as [String: Any]
            },
        ]
        var status = HTTPResponse.Status.ok
        if !requestor.isEmpty || !word.isEmpty {
            do {
                guard !requestor.isEmpty, let platform else { throw Fault(.invalidRequest, "Choose a channel and a platform.") }
                let list = try await controller.offers(of: entry.id, requestor: requestor, platform: platform, by: visitor.secret, exchange)
                content["offers"] = try table(list, requestor)
            } catch let refused as AdministrationError {
                content["problem"] = ["problemText": refused.message]
                status = refused.status
            } catch let fault as Fault {
                guard let problem = UpstreamProblem.text(fault) else { throw fault }
                content["problem"] = ["problemText": problem]
                status = .unprocessableContent
            }
        }
        return await console.page("upstream-offers", "Offers of \(entry.id)", in: .upstreams, content, for: visitor, exchange, status: status)
    }

    private func table(_ list: UpstreamList, _ requestor: String) throws -> [String: Any] {
        let catalogue = try console.dependencies.catalogue.current()
        let ours = Self.ours(requestor, catalogue)
        let rows = list.entries.prefix(Self.most).map { entry -> [String: Any] in
            var row: [String: Any] = [
                "offerId": entry.id, "offerName": entry.displayName.isEmpty ? entry.id : entry.displayName, "isTrial": entry.isTemporaryPass,
                "boarding": entry.boardingStatus.isEmpty ? "–" : entry.boardingStatus,
            ]
            if let own = ours[OctetText(entry.id)] {
                row["ours"] = ["oursName": own, "oursAddress": ConsoleCollection.integrations.address(of: "\(requestor)/\(own)")]
            }
            return row
        }
        var table: [String: Any] = [
            "serviceProvider": list.serviceProvider, "offerRows": rows, "hasOffers": !rows.isEmpty, "offerCount": "\(list.entries.count)",
            "offeredDomains": list.domains.isEmpty ? "none" : list.domains.joined(separator: ", "),
        ]
        if list.entries.count > rows.count { table["omitted"] = "\(list.entries.count - rows.count) further MVPDs are not shown." }
        if !list.droppedIDs.isEmpty { table["leftOut"] = ["leftOutIds": list.droppedIDs.prefix(Self.most).joined(separator: ", ")] }
        return table
    }

    /// Returns our ids of the MVPDs that the upstream serves at a channel, by its own.
    private static func ours(_ requestor: String, _ catalogue: Catalogue) -> [OctetText: String] {
        let ways = catalogue.bridgedIntegrations(requestor: requestor).compactMap { catalogue.bridgeWay(requestor: requestor, mvpd: $0.mvpdID) }
        return Dictionary(ways.map { (OctetText($0.theirMvpd), $0.mvpd) }, uniquingKeysWith: { first, _ in first })
    }

    private static func name(_ platform: Platform) -> String {
        switch platform {
        case .ios: "iOS"
        case .tvos: "tvOS"
        case .roku: "Roku"
        case .fireTv: "Fire TV"
        case .android: "Android"
        case .desktop: "Desktop"
        case .otherMobile: "Other mobile devices"
        case .otherTv: "Other TV devices"
        case .unknown, .unrecognized: "unknown"
        }
    }
}
