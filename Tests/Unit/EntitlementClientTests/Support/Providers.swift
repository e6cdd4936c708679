import EntitlementClient

/// The providers of the tests.
extension Provider {
    /// Signed in by the platform.
    static let harbor = onPlatform("harbor", "mso-harbor", .supported)
    static let lagoon = onPlatform("lagoon", "mso-lagoon", .supported)
    /// The platform only lists it.
    static let quay = onPlatform("quay", "mso-quay", .picker)
    /// Known to the platform, switched off for the requestor.
    static let dock: Provider = {
        var provider = onPlatform("dock", "mso-dock", .supported)
        provider.enablePlatformServices = false
        return provider
    }()
    /// Without the platform.
    static let plain = Provider(id: "plain", displayName: "Plain")
    static let trial: Provider = {
        var provider = Provider(id: "trial", displayName: "Ten minutes")
        provider.isTempPass = true
        return provider
    }()
    static let safari: Provider = {
        var provider = Provider(id: "safari", displayName: "Safari only")
        provider.requiresSafariViewController = true
        return provider
    }()

    static func onPlatform(_ id: String, _ mapping: String, _ status: BoardingStatus?) -> Provider {
        var provider = Provider(id: Provider.ID(id), displayName: id)
        provider.enablePlatformServices = true
        provider.displayInPlatformPicker = true
        provider.boardingStatus = status
        provider.platformMappingID = mapping
        provider.requiredMetadataFields = ["userID", "householdID"]
        return provider
    }

    static let all: [Provider] = [.harbor, .lagoon, .quay, .dock, .plain, .trial, .safari]
}
