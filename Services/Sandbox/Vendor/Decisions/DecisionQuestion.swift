internal import Clocks
internal import FoundationEssentials

/// A call for decisions, checked.
struct DecisionQuestion: Sendable {
    private struct Message: Decodable { let resources: [String] }

    private static let longestResource = 16_384
    private static let mostResources = 1000

    let caller: DeviceCaller
    let mvpd: UpstreamCatalogue.Mvpd
    let integration: UpstreamCatalogue.Integration
    /// Each once, in the order of the request (rest-v2 D15).
    let resources: [String]
    let isPreauthorization: Bool
    let partnerStatus: PartnerStatus
    let call: UpstreamCall

    /// - Throws: `UpstreamRefusal` of rest-v2 §1.5, in its order.
    init(_ call: UpstreamCall, _ state: UpstreamState) throws {
        caller = try DeviceCaller(call, state)
        guard state.catalogue.mvpd(call.parameter("mvpd")) != nil else { throw UpstreamRefusal(.invalidMvpd) }
        resources = try Self.resources(call)
        (mvpd, integration) = try caller.integration(call.parameter("mvpd"), state)
        isPreauthorization = call.operation == .preauthorize
        partnerStatus = PartnerStatus(header: call.header("ap-partner-framework-status"))
        self.call = call
    }

    var now: Timestamp { call.now }
    var serviceProvider: String { caller.serviceProvider.id }
    var limit: Int { isPreauthorization ? integration.preauthorizeLimit : integration.authorizeLimit }

    private static func resources(_ call: UpstreamCall) throws(UpstreamRefusal) -> [String] {
        guard call.isJSON, let message = try? JSONDecoder().decode(Message.self, from: Data(call.body)), !message.resources.isEmpty,
            message.resources.count <= mostResources,
            message.resources.allSatisfy({ (1...longestResource).contains($0.utf8.count) })
        else { throw UpstreamRefusal(.invalidResources) }
        var distinct: [String] = []
        for resource in message.resources where !distinct.contains(where: { $0 == resource }) { distinct.append(resource) }
        return distinct
    }
}
