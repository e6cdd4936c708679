/// States whether an MVPD has to encrypt its assertions (mvpd §1.2).
public enum EncryptionPolicy: Hashable, Sendable {
    case optional
    case required
}
