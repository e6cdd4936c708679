import Clocks
import Contracts
import Cryptography
import Faults
import Tokens

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// An RSA key costs a tenth of a second: one for all rigs.
enum TestServiceKey {
    static let shared = Result { ServiceTokenKey(try RSAPrivateKey.generate()) }
}

extension ServicePersonName {
    /// The key of a name at a programmer.
    struct Key: Hashable {
        let programmer: ProgrammerID
        let digest: [UInt8]
    }
}

/// People of service tokens, their devices and codes.
extension InMemoryStore {
    func tie(_ tie: ServiceTokenTie, to name: ServicePersonName) async throws(Fault) -> ServiceTokenDevice {
        state.withLock { state in
            let key = ServicePersonName.Key(programmer: tie.programmer, digest: name.digest)
            let person = state.people[key] ?? name.newID
            state.people[key] = person
            return state.put(tie, of: person)
        }
    }

    func tie(_ tie: ServiceTokenTie, by code: String) async throws(Fault) -> ServiceTokenDevice? {
        state.withLock { state in
            let link = state.links.values.first { $0.code == code && $0.programmer == tie.programmer && $0.expiresAt > tie.now }
            guard let link else { return nil }
            state.links[link.person] = nil
            return state.put(tie, of: link.person)
        }
    }

    func serviceDevice(_ tie: ServiceTieID) async throws(Fault) -> ServiceTokenDevice? { state.withLock { $0.serviceDevices[tie] } }

    func renew(_ tie: ServiceTieID, at now: Timestamp, until end: Timestamp, personUntil personEnd: Timestamp) async throws(Fault) -> Bool {
        state.withLock { state in
            guard state.serviceDevices[tie] != nil else { return false }
            state.serviceDevices[tie]?.seenAt = now
            state.serviceDevices[tie]?.expiresAt = end
            return true
        }
    }

    func serviceDevices(of person: ServicePersonID, now: Timestamp) async throws(Fault) -> [ServiceTokenDevice] {
        state.withLock { state in
            state.serviceDevices.values.filter { $0.person == person && $0.expiresAt > now }
                .sorted { ($1.seenAt, $0.tie.text) < ($0.seenAt, $1.tie.text) }
        }
    }

    func untie(_ devices: [ServiceTokenDevice], of identity: ServiceIdentity) async throws(Fault) {
        state.withLock { state in
            for device in devices {
                state.serviceDevices[device.tie] = nil
                for var session in state.sessions where session.key.device == device.device && session.origin.serviceIdentity == identity {
                    session.origin.serviceIdentity = nil
                    state.replace(session)
                }
                for (code, record) in state.records where record.deviceID == device.device && record.serviceIdentity == identity {
                    state.records[code]?.serviceIdentity = nil
                }
            }
        }
    }

    func add(_ link: ServiceLinkCode, now: Timestamp) async throws(Fault) -> Bool {
        state.withLock { state in
            state.links[link.person] = nil
            let isTaken = state.links.values.contains { $0.code == link.code && $0.programmer == link.programmer && $0.expiresAt > now }
            guard !isTaken else { return false }
            state.links = state.links.filter { $0.value.code != link.code || $0.value.programmer != link.programmer }
            state.links[link.person] = link
            return true
        }
    }
}

extension InMemoryStore.State {
    fileprivate mutating func put(_ tie: ServiceTokenTie, of person: ServicePersonID) -> ServiceTokenDevice {
        let own = serviceDevices.values.first { $0.person == person && $0.device == tie.device }
        let device = ServiceTokenDevice(
            tie: own?.tie ?? tie.newTie, person: person, programmer: tie.programmer, device: tie.device, information: tie.information,
            seenAt: tie.now, expiresAt: tie.expiresAt)
        serviceDevices[device.tie] = device
        let others = serviceDevices.values.filter { $0.person == person && $0.tie != device.tie }
            .sorted { ($1.seenAt, $0.tie.text) < ($0.seenAt, $1.tie.text) }
        for other in others.dropFirst(ServiceTokenDevice.most - 1) { serviceDevices[other.tie] = nil }
        return device
    }
}
