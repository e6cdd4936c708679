internal import CommandKit
internal import Faults
internal import Rpc
internal import Transport

/// Why a replaced service cannot be used, and what to do about it.
struct ReplacementProblem: Equatable {
    let what: String
    var advice: String?

    init(what: String, advice: String? = nil) {
        self.what = what
        self.advice = advice
    }

    /// - Parameter fault: Of a call of `Health.Check`, or of the attempt to connect.
    init(_ fault: Fault, replacement: Replacement, pki: LocalPki) {
        let name = replacement.service.certificateName
        switch fault.cause {
        case let error as TlsError: self.init(error, name: name, pki: pki)
        case let end as ConnectionEnd where end.code == "unsupported_version":
            self.init(what: "it speaks another version of the wire; \(end)", advice: "WIRE.md §3 says which version a hello must name")
        case let end as ConnectionEnd:
            self.init(what: "it takes no calls; \(end)", advice: "WIRE.md §6 explains the code; 'boxoffice conformance' tries the whole protocol")
        case let other as Fault: self.init(what: other.message, advice: "its log may say why")
        case let error?: self.init(what: PlainReason.of(error), advice: "start it, or give another address with --replace")
        case nil: self.init(ofCall: fault, name: name)
        }
    }

    private init(_ error: TlsError, name: String, pki: LocalPki) {
        let issue = "'boxoffice pki --issue \(name.prefix { $0 != "." }) --folder DIR' makes a certificate that fits"
        switch error.code {
        case .wrongPeerName: self.init(what: "TLS: its certificate does not have the DNS name \(name)", advice: issue)
        case .untrustedPeer: self.init(what: "TLS: its certificate does not lead to \(pki.path("ca.crt")); \(PlainReason.of(error))", advice: issue)
        case .refusedByPeer:
            self.init(
                what: "TLS: it refuses the certificate of operator.boxoffice; \(PlainReason.of(error))",
                advice: "it must trust \(pki.path("ca.crt")) for its callers")
        case .handshakeTimedOut: self.init(what: "TLS: it does not answer the handshake", advice: "is it a service of this wire at that port?")
        default:
            self.init(
                what: "TLS: no handshake of TLS 1.3 with it; \(PlainReason.of(error))",
                advice: "WIRE.md §1; is it a service of this wire at that port?")
        }
    }

    private init(ofCall fault: Fault, name: String) {
        switch fault.code {
        case .permissionDenied:
            self.init(what: "it does not let operator.boxoffice call Health.Check", advice: "put that name on its list of callers (REPLACING.md)")
        case .unimplemented: self.init(what: "it does not offer boxoffice.platform.v1.Health", advice: "every service must (WIRE.md §8)")
        default: self.init(what: "Health.Check fails with \(fault)", advice: "its log may say why")
        }
    }
}
