public import Catalogue
public import Clocks
public import Contracts
internal import Identifiers
public import Logging
public import OutboundHttp

/// The whole service over its store.
public struct AutoSignIn: Sendable {
    public let automaticSignIn: AutomaticSignInService
    public let signInWithApple: SignInWithAppleService
    public let operations: AutoSignInOperationsService
    private let base: AutoSignInBase
    private let appleParts: AppleParts

    /// - Parameters:
    ///   - settings: The `autosignin` object of the settings file.
    ///   - keys: Out of the file that the settings name.
    ///   - secrets: Absolute path of the folder with developer teams' private keys.
    ///   - store: Open; copies of the service may share its rows.
    ///   - logins: Of the authentication service.
    ///   - transport: Reaches Apple; its owner shuts it down.
    public init(
        _ settings: AutoSignInSettings, keys: AutoSignInKeys, secrets: String, store: AutoSignInStore, logins: any Logins,
        catalogue: any CatalogueSource, transport: any OutboundTransport, clock: any WallClock, logger: Logger
    ) {
        self.init(
            AutoSignInParts(
                settings: settings, keys: keys, appleKeys: AppleKeyFolder(path: secrets), store: store, logins: logins, catalogue: catalogue,
                transport: transport, clock: clock, random: SystemRandom(), logger: logger))
    }

    init(_ parts: AutoSignInParts) {
        let identityServer = AppleIDClient(parts)
        base = AutoSignInBase(
            parts,
            appleCourier: AppleRevocationCourier(apple: identityServer, seal: parts.keys.seal(for: .appleTokens), catalogue: parts.catalogue))
        appleParts = AppleParts(base, identityServer)
        let apple = AppleOperations(parts: appleParts)
        automaticSignIn = AutomaticSignInService(base, apple: apple)
        signInWithApple = SignInWithAppleService(appleParts, apple)
        operations = AutoSignInOperationsService(base, apple: apple)
    }

    /// Makes the calls that are due at other parties; until it is cancelled.
    public func deliverOutbox() async { await base.outbox.run() }

    /// Replaces old values, and ends what nobody uses; until it is cancelled.
    public func keepHouse() async { await Housekeeping(base: base).run() }

    /// Asks Apple once a day whether people's sessions go on; until it is cancelled.
    public func checkAppleSessions() async { await appleSessionChecks.run() }

    /// One round of each, for tests.
    var appleSessionChecks: AppleSessionChecks { AppleSessionChecks(parts: appleParts) }
    var housekeeping: Housekeeping { Housekeeping(base: base) }
    var outbox: Outbox { base.outbox }
    var values: ValueSeal { base.values }
}
