public import Contracts
internal import Cryptography

/// The streaming device that a call is made for, as upstream shall know it. On browser and code legs it is the television of the code, not the browser.
public struct BridgeDevice: Sendable {
    /// The app's `deviceId`, after URL decoding.
    public var id: String
    public var information: DeviceInformation
    /// As the gateway determined it.
    public var address: String
    /// The port that the device's connection came from; 0: not known.
    public var port: UInt32
    /// True when the app came by HTTPS.
    public var isSecure: Bool
    public var userAgent: String
    /// The app's analytics visitor of this call; empty: none.
    public var visitor = ""
    /// `Adobe-Subject-Token` as it was sent; empty: none.
    public var subjectToken = ""
    /// `X-Roku-Reserved-Roku-Connect-Token` as it was sent; empty: none.
    public var rokuToken = ""
    /// Base64 of the person's digests at a promotional TempPass; empty: none.
    public var temporaryPassIdentity = ""
    /// The status of the platform's sign-in framework, as Base64; empty: nothing.
    public var partnerStatus = ""

    public init(id: String, information: DeviceInformation, address: String, port: UInt32, isSecure: Bool, userAgent: String) {
        self.id = id
        self.information = information
        self.address = address
        self.port = port
        self.isSecure = isSecure
        self.userAgent = userAgent
    }
}

/// How an upstream wants devices named: of its record in the catalogue.
public struct BridgeDeviceForm: Sendable {
    public enum IdentifierForm: Sendable {
        /// The app's device id, so that trials and resets keyed by it go on.
        case plain
        /// Its SHA-256.
        case digest
    }

    public var identifier: IdentifierForm
    /// True when what v2 requires and the app did not say becomes `unknown`.
    public var fillsInformation: Bool

    public init(identifier: IdentifierForm = .plain, fillsInformation: Bool = true) {
        self.identifier = identifier
        self.fillsInformation = fillsInformation
    }

    /// `AP-Device-Identifier` of a device.
    func identifier(_ id: String) -> String { "fingerprint " + Base64.standard.encode(Array(text(of: id).utf8)) }

    /// The device's name before it is encoded.
    public func text(of id: String) -> String {
        switch identifier {
        case .plain: id
        case .digest: Hex.encode(SHA256.hash(id))
        }
    }
}
