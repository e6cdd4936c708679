/// The parts that an MVPD has to sign (mvpd §1.2).
public enum SignaturePolicy: Hashable, Sendable {
    case assertion
    case response
    case both
}
