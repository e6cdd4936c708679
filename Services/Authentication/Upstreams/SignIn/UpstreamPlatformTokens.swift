internal import AuthenticationCore
internal import BridgeClient
internal import Catalogue
internal import Contracts
internal import Faults

/// Keeps the platform's tokens of a registration code for the login at an upstream, which needs them: `create` says by them whose device it is, and
/// comes of a browser that does not have them (bridge §5.1). They are sealed, and go with the code.
struct UpstreamPlatformTokens: PlatformTokenKeeper {
    /// Tokens are printable, so that none has it.
    private static let separator: Character = " "

    let seal: TokenSeal

    func sealed(
        _ call: DeviceCall, for code: RegistrationRecordID, of requestor: RequestorID, in catalogue: Catalogue
    ) throws(Fault) -> [UInt8] {
        let device = BridgeDevice(call)
        let (subject, roku) = (device.usableSubjectToken, device.usableRokuToken)
        guard catalogue.requestor(requestor.text)?.bridge != nil, !subject.isEmpty || !roku.isEmpty else { return [] }
        return try seal.close(ProviderSecret(subject + String(Self.separator) + roku), of: Self.owner(code))
    }

    /// Gives a device the tokens that came with its code.
    func add(to device: inout BridgeDevice, of record: RegistrationRecord) {
        guard !record.platformTokens.isEmpty,
            let text = seal.open(record.platformTokens, of: Self.owner(record.id), as: ProviderSecret.self)?.text
        else { return }
        let parts = text.split(separator: Self.separator, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else { return }
        (device.subjectToken, device.rokuToken) = (parts[0], parts[1])
    }

    private static func owner(_ code: RegistrationRecordID) -> SessionID { SessionID("bridge platform tokens \(code)") }
}
