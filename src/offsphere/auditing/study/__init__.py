"""Many tasks and models side by side: what decides whether length helps?"""
