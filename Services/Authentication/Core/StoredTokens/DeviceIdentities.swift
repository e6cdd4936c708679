internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Cryptography
internal import Faults
internal import Identifiers
internal import Synchronization

/// Gives ids to devices whose apps leave that to the service (clients §3, `/indiv/devices`).
///
/// A device's id opens its sessions, and what some devices send of themselves is the same for all of a model. So only what an app made up at random
/// gets an id that comes again, and of that not more than a household has.
struct DeviceIdentities: Sendable {
    private static let longestFingerprint = 512
    /// Hexadecimal digits of a fingerprint that counts as random.
    private static let digits = 32

    let bearers: BearerCheck
    let seals: StoredTokenSeals
    let userIDs: UserIDScrambler
    let limit: FingerprintLimit
    let random: any RandomSource
    let clock: any WallClock

    /// - Throws: Faults of a bearer that was sent; `invalid_request`.
    func identify(_ request: IdentifyDeviceRequest) async throws(Fault) -> IdentifiedDevice {
        let client = request.accessToken.isEmpty ? nil : try await bearers.client(request.accessToken, requestor: "")
        let fingerprint = request.fingerprint
        guard !fingerprint.isEmpty, fingerprint.utf8.count <= Self.longestFingerprint else {
            throw Fault(.invalidRequest, "The fingerprint must have 1 to \(Self.longestFingerprint) octets.")
        }
        let device: DeviceID
        if let sealed = seals.device(request.seal) {
            device = sealed
        } else if let client, Self.isRandom(fingerprint),
            limit.admits(fingerprint, address: request.clientAddress, application: client.application.id, now: clock.now())
        {
            device = userIDs.device(fingerprint, application: client.application.id)
        } else {
            device = DeviceID(Hex.encode(random.bytes(32)))
        }
        return IdentifiedDevice(deviceID: device.text, seal: try seals.close(device))
    }

    private static func isRandom(_ fingerprint: String) -> Bool { fingerprint.utf8.count == digits && Hex.decode(fingerprint) != nil }
}

/// Limits the fingerprints of an address that get ids that come again: guessed ones must not become ids of others' devices.
final class FingerprintLimit: Sendable {
    /// In an hour, of an address and an application.
    static let most = 20
    private static let window: Duration = .seconds(3600)
    private static let capacity = 65_536

    private struct Place: Hashable {
        let address: OctetText
        let application: OctetText
    }

    private struct Seen {
        let since: Timestamp
        /// Hashes by the process's own seed: an hour of many addresses is to stay small.
        var fingerprints: Set<Int> = []
    }

    private struct State {
        var places: [Place: Seen] = [:]
        /// What is over was last looked for at this time: with all places taken that costs milliseconds.
        var sweptAt: Timestamp?
    }

    private static let sweep: Duration = .seconds(60)
    private let state = Mutex(State())

    /// - Returns: True for one that is seen already, or for which there is room.
    func admits(_ fingerprint: String, address: String, application: String, now: Timestamp) -> Bool {
        let place = Place(address: OctetText(address), application: OctetText(application))
        let mark = OctetText(fingerprint).hashValue
        return state.withLock { state in
            if state.places.count >= Self.capacity, state.places[place] == nil { Self.makeRoom(&state, now) }
            guard state.places.count < Self.capacity || state.places[place] != nil else { return false }
            var seen = state.places[place].flatMap { Self.counts($0, now) ? $0 : nil } ?? Seen(since: now)
            defer { state.places[place] = seen }
            if seen.fingerprints.contains(mark) { return true }
            guard seen.fingerprints.count < Self.most else { return false }
            seen.fingerprints.insert(mark)
            return true
        }
    }

    private static func makeRoom(_ state: inout State, _ now: Timestamp) {
        if let last = state.sweptAt, now >= last, now < last + sweep { return }
        state.sweptAt = now
        state.places = state.places.filter { counts($0.value, now) }
    }

    /// A clock that was set back begins anew.
    private static func counts(_ seen: Seen, _ now: Timestamp) -> Bool { now >= seen.since && now < seen.since + window }
}

extension DeviceIdentities: CallRegistration {
    package func register(on calls: inout some MethodRegistry) {
        calls.unary(AuthenticationMethods.identifyDevice) { request, _ in try await identify(request) }
    }
}
