/// What programs say of their own version, in `hello` and in health reports.
public enum SoftwareVersion {
    public static let current = "0.1.0"
}
