internal import Octets
internal import Foundation

/// The requestor's configuration, and the server for each provider.
struct ServiceConfiguration: Sendable {
    let requestor: Requestor.ID
    /// The first of the requestor's domains; a login names it.
    let domain: String
    /// In the servers' order.
    let providers: [Provider]
    /// The first server that named a provider answers for it.
    let links: [Provider.ID: ServerLink]
    /// The server for calls without a provider.
    let firstLink: ServerLink
    /// How far the server's clock is ahead of the device's.
    let clockDifference: TimeInterval

    func provider(_ id: Provider.ID) -> Provider? { providers.first { $0.id == id } }
    /// - Parameter identifier: The platform's name of it.
    func provider(mappedTo identifier: String) -> Provider? { providers.first { $0.platformMappingID == identifier } }
    func link(_ provider: Provider.ID?) -> ServerLink { provider.flatMap { links[$0] } ?? firstLink }

    /// True when the platform can sign people in at all.
    var hasPlatformSignIn: Bool { providers.contains(where: \.takesPartInPlatformSignIn) }

    /// The platform's names of the providers for its picker (client-sdk §2.1).
    func pickerList(_ filter: ProviderFilter?) -> (supported: [String], featured: [String]) {
        let listed = providers.filter { $0.enablePlatformServices && $0.displayInPlatformPicker && $0.platformMappingID != nil }
        guard let filter else { return (listed.compactMap(\.platformMappingID), []) }
        let supported = filter.providers.compactMap { id in listed.first { $0.id == id }?.platformMappingID }
        let featured = filter.featured.compactMap { id in listed.first { $0.id == id }?.platformMappingID }
        return (supported, featured.filter(supported.contains))
    }
}
