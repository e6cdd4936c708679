public import Contracts

/// Base addresses of Apple's servers, without a slash at the end.
public struct AppleAddresses: Decodable, Hashable, Sendable {
    public let identityURL: String
    /// A browser finds the same server here; only of a stand-in it may be another address.
    public let browserURL: String
    public let productionURL: String
    public let sandboxURL: String

    private enum CodingKeys: String, CodingKey {
        case identityURL, browserURL, productionURL, sandboxURL
    }

    /// The real ones (apple §1.3, §2.1).
    public init() {
        identityURL = "https://appleid.apple.com"
        browserURL = identityURL
        productionURL = "https://api.storekit.itunes.apple.com"
        sandboxURL = "https://api.storekit-sandbox.itunes.apple.com"
    }

    public init(identityURL: String, productionURL: String, sandboxURL: String) {
        self.identityURL = identityURL
        browserURL = identityURL
        self.productionURL = productionURL
        self.sandboxURL = sandboxURL
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        identityURL = try container.base(.identityURL)
        browserURL = container.contains(.browserURL) ? try container.base(.browserURL) : identityURL
        productionURL = try container.base(.productionURL)
        sandboxURL = try container.base(.sandboxURL)
    }

    /// The address of the server that keeps the values of an environment.
    public func storeKit(_ environment: AppleEnvironment) -> String { environment == .sandbox ? sandboxURL : productionURL }

    /// The key of the first address that is not HTTPS: only a stand-in for Apple is reached without (apple §3).
    public var unencryptedKey: String? {
        [("identityURL", identityURL), ("browserURL", browserURL), ("productionURL", productionURL), ("sandboxURL", sandboxURL)].first {
            !$0.1.hasPrefix("https://")
        }?.0
    }
}
