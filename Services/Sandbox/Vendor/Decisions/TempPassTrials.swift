internal import SandboxKit
internal import Clocks
internal import FoundationEssentials

/// The free trials that have begun (rest-v2 §5 L).
struct TempPassTrials: Sendable {
    struct Trial: Sendable, Codable, Equatable {
        let id: Int
        let serviceProvider: String
        let mvpd: String
        let startedAt: Timestamp
        /// Different resources that were played.
        var used: [String] = []
    }

    private enum Who: Hashable {
        case device([UInt8])
        case identity(String)
    }

    private struct Key: Hashable {
        let serviceProvider: String
        let mvpd: String
        let who: Who
    }

    private static let mostResources = 10_000

    private var trials = BoundedTable<Int, Trial>(limit: 100_000)
    private var keys = BoundedTable<Key, Int>(limit: 200_000)
    private var counter = 0

    var all: [Trial] { trials.values }

    /// The trial of a known identity or a known device; the identity's wins.
    func trial(_ serviceProvider: String, _ mvpd: String, _ device: DeviceIdentifier, _ identity: TempPassIdentity) -> Trial? {
        for who in [identity.hash.map { Who.identity($0) }, .device(device.octets)].compactMap({ $0 }) {
            if let id = keys[Key(serviceProvider: serviceProvider, mvpd: mvpd, who: who)], let trial = trials[id] { return trial }
        }
        return nil
    }

    /// Begins a trial, or goes on with one, by playing a resource.
    mutating func play(
        _ resource: String, _ serviceProvider: String, _ mvpd: String, _ device: DeviceIdentifier, _ identity: TempPassIdentity, at now: Timestamp
    ) {
        var trial: Trial
        if let found = self.trial(serviceProvider, mvpd, device, identity) {
            trial = found
        } else {
            counter += 1
            trial = Trial(id: counter, serviceProvider: serviceProvider, mvpd: mvpd, startedAt: now)
        }
        if !trial.used.contains(where: { $0 == resource }), trial.used.count < Self.mostResources { trial.used.append(resource) }
        trials[trial.id] = trial
        keys[Key(serviceProvider: serviceProvider, mvpd: mvpd, who: .device(device.octets))] = trial.id
        if let hash = identity.hash { keys[Key(serviceProvider: serviceProvider, mvpd: mvpd, who: .identity(hash))] = trial.id }
    }

    /// Forgets the trials of a device, of an identity, or with neither all of a service provider's MVPD.
    mutating func reset(_ serviceProvider: String, _ mvpd: String, device: String? = nil, identity: String? = nil) {
        if device == nil, identity == nil {
            trials.keep { $0.mvpd != mvpd || $0.serviceProvider != serviceProvider }
            return
        }
        for who in [device.map { Who.device(Array($0.utf8)) }, identity.map { Who.identity($0.lowercased()) }].compactMap({ $0 }) {
            if let id = keys[Key(serviceProvider: serviceProvider, mvpd: mvpd, who: who)] { trials[id] = nil }
        }
    }
}

extension TempPassTrials.Trial {
    /// Why no further resource can be played; nil: it can.
    func fault(_ terms: VendorCatalogue.Mvpd.TempPass, resource: String?, at now: Timestamp) -> VendorErrorCode? {
        if now - startedAt >= .seconds(terms.seconds) { return .tempPassOver }
        guard let limit = terms.resources, used.count >= limit else { return nil }
        if let resource, used.contains(where: { $0 == resource }) { return nil }
        return .tempPassUsedUp
    }
}

extension VendorState {
    /// - Throws: `temporary_access_…` when the trial is over or used up. Reading begins no trial (rest-v2 D14).
    func temporaryProfile(
        _ device: DeviceIdentifier, _ identity: TempPassIdentity, _ mvpd: VendorCatalogue.Mvpd, _ terms: VendorCatalogue.Mvpd.TempPass,
        of serviceProvider: String, at now: Timestamp
    ) throws(VendorRefusal) -> ProfileBody {
        let trial = trials.trial(serviceProvider, mvpd.id, device, identity)
        if let fault = trial?.fault(terms, resource: nil, at: now) { throw VendorRefusal(fault) }
        let start = trial?.startedAt ?? now
        let end = start + .seconds(terms.seconds)
        var attributes: [String: JsonValue] = ["userID": .text("temppass_" + device.hash), "expiration_date": .number(end.milliseconds)]
        if let limit = terms.resources {
            attributes["remaining_resources"] = .number(Int64(limit - (trial?.used.count ?? 0)))
            attributes["used_assets"] = .list((trial?.used ?? []).map { .text($0) })
        }
        return ProfileBody(.temporary, from: start, to: end, attributes)
    }
}

/// By which a promotional free trial knows a person (rest-v2 §1.3).
struct TempPassIdentity: Sendable, Hashable {
    /// A digest in hexadecimal; nil for a basic trial, which needs none.
    let hash: String?

    /// - Throws: `invalid_header_identity_for_temporary_access` when a promotional trial lacks it.
    init(_ call: VendorCall, _ terms: VendorCatalogue.Mvpd.TempPass) throws(VendorRefusal) {
        guard terms.resources != nil else {
            hash = nil
            return
        }
        guard let header = call.header("ap-temppass-identity"), let hash = Self.hash(header) else { throw VendorRefusal(.invalidTempPassIdentity) }
        self.hash = hash
    }

    init(hash: String?) { self.hash = hash }

    /// A value that is no digest is hashed (rest-v2 D14).
    static func hash(_ header: String) -> String? {
        guard let octets = Base64.octets(header), octets.count <= 4096,
            let members = try? JSONDecoder().decode([String: String].self, from: Data(octets)),
            let value = members.sorted(by: { $0.key < $1.key }).first?.value, !value.isEmpty
        else { return nil }
        let isDigest = [56, 64, 96, 128].contains(value.utf8.count) && value.utf8.allSatisfy(isHexadecimal)
        return isDigest ? value.lowercased() : Hexadecimal.text(Digest.sha256(Array(value.utf8)))
    }

    private static func isHexadecimal(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"): true
        default: false
        }
    }
}
